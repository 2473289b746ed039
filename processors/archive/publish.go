package archive

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/topics"
)

// publisher names, finds and publishes files. It is safe for concurrent use.
type publisher struct {
	bucket  blob.Bucket
	options Options
	env     stage.Env
	sorting sync.Mutex // an index
}

// Prefix is what the names of the files of a crawl's partition begin with.
func Prefix(crawl string, topic [16]byte, partition int32) string {
	return fmt.Sprintf("%s-%s-%05d-", crawl, hex.EncodeToString(topic[:6]), partition)
}

// metadataPart is in the names of files of metadata.
const metadataPart = ".meta"

// IsFile tells whether an object of an archive is a file of exchanges.
func IsFile(name string) bool { return isWARC(name) && !strings.Contains(name, metadataPart+".") }

// IsMetadata tells whether an object of an archive is a file of metadata.
func IsMetadata(name string) bool { return isWARC(name) && strings.Contains(name, metadataPart+".") }

func isWARC(name string) bool {
	return strings.HasSuffix(name, warc.Gzip.Extension()) || strings.HasSuffix(name, warc.Zstd.Extension())
}

// Stem is the name of a file, or of its index, without what follows the first record's offset.
func Stem(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	return stem
}

// name is the name of the file that begins at an offset.
func (p *publisher) name(from source, first int64) string {
	topic, part := p.options.Topic, ""
	if from.topic == p.env.Names.Parsed {
		topic, part = p.options.Parsed, metadataPart
	}
	return fmt.Sprintf("%s%0*d", Prefix(p.env.Names.Crawl, topic, from.partition), offsetDigits, first) + part + p.options.WARC.Compression.Extension()
}

const offsetDigits = 15

// nextName is the name with the next number, for another file that begins at the offset.
func nextName(name string) string {
	stem, rest, _ := strings.Cut(name, ".")
	at, number := strings.LastIndexByte(stem, '-'), 0
	if len(stem)-at-1 < offsetDigits {
		number, _ = strconv.Atoi(stem[at+1:])
		stem = stem[:at]
	}
	return fmt.Sprintf("%s-%d.%s", stem, number+1, rest)
}

// find looks for the file that begins with a record. If there is no such file, head is the head of
// the new file.
func (p *publisher) find(ctx context.Context, from source, r *kgo.Record) (head warc.Head, found bool, err error) {
	want := warc.Head{First: r.Offset, Sum: sumOf(r), Date: p.dateOf(r), Info: p.options.Info}
	for want.Name = p.name(from, r.Offset); ; want.Name = nextName(want.Name) {
		have, found, err := p.head(ctx, want.Name)
		if err == nil && !found { // or behind a name that the bucket has refused
			have, found, err = p.head(ctx, nextName(want.Name))
			if found && !begins(have, want) {
				return want, false, nil
			}
		}
		switch {
		case err != nil:
			return warc.Head{}, false, err
		case !found:
			return want, false, nil
		case begins(have, want):
			return have, true, nil
		}
	}
}

// begins tells whether two files begin with the same record.
func begins(have, want warc.Head) bool { return have.Sum == want.Sum && have.First == want.First }

// head reads the head of a file. A file of another program has the zero head.
func (p *publisher) head(ctx context.Context, name string) (head warc.Head, found bool, err error) {
	err = p.persist(ctx, askTimeout, func(ctx context.Context) error {
		var begin bytes.Buffer
		err := p.bucket.GetRange(ctx, name, 0, warc.HeadBytes, &begin)
		if errors.Is(err, blob.ErrNotExist) {
			return nil
		}
		if err == nil {
			found = true
			head, _ = warc.ReadHead(begin.Bytes())
		}
		return err
	})
	return head, found, err
}

// publish publishes a draft with its index, and returns the offset to go on with: behind
// the draft, or behind the file that another process published under this name.
func (p *publisher) publish(ctx context.Context, d *draft) (next int64, err error) {
	if err := d.out.Flush(); err != nil {
		return 0, fmt.Errorf("write the draft of %s: %w", d.head.Name, err)
	}
	if d.warc.Size() == 0 {
		return d.head.Next, nil // records of other programs only
	}
	for {
		final, found, err := p.head(ctx, d.head.Name)
		if !found && err == nil {
			found, err = p.put(ctx, d)
			final = d.head
		}
		if err != nil || found {
			return p.settle(ctx, d, final, err)
		}
		if final, found, err = p.head(ctx, d.head.Name); err != nil || found { // of another process, or of an attempt whose answer was lost
			return p.settle(ctx, d, final, err)
		}
		p.env.Logger.Warn("the archive refuses a name as if it had the file, and has none; the next name is taken", "archive", p.bucket, "name", d.head.Name)
		refused := IndexName(d.head)
		if err := p.persist(ctx, askTimeout, func(ctx context.Context) error { return p.bucket.Delete(ctx, refused) }); err != nil {
			return 0, err
		}
		d.head.Name = nextName(d.head.Name)
	}
}

// put puts a draft with its index. It returns false if the bucket says that it has a file of this name. versitygw
// also says so for a file that was not complete when it was killed.
func (p *publisher) put(ctx context.Context, d *draft) (done bool, err error) {
	d.head.Oldest = d.warc.Oldest()
	head := d.head.Member(p.options.WARC.Compression)
	if d.warc.Responses() > 0 { // metadata has none
		index, err := p.index(d, int64(len(head)))
		if err != nil {
			return false, err
		}
		err = p.persist(ctx, askTimeout, func(ctx context.Context) error {
			return p.bucket.Put(ctx, IndexName(d.head), io.NewSectionReader(index, 0, index.Size()), index.Size())
		})
		if err != nil {
			return false, err
		}
	}
	err = p.persist(ctx, sendTimeout, func(ctx context.Context) error {
		err := p.bucket.PutNew(ctx, d.head.Name, io.MultiReader(bytes.NewReader(head), d.body()), int64(len(head))+d.warc.Size())
		done = !errors.Is(err, blob.ErrExists)
		if !done {
			return nil
		}
		return err
	})
	return done && err == nil, err
}

// index returns the index of a draft. Only one is in memory at a time.
func (p *publisher) index(d *draft, headBytes int64) (*io.SectionReader, error) {
	p.sorting.Lock()
	defer p.sorting.Unlock()
	return d.warc.Index(d.head.Name, headBytes)
}

// settle ends the publishing of a draft with the file that is there now.
func (p *publisher) settle(ctx context.Context, d *draft, final warc.Head, err error) (next int64, _ error) {
	switch {
	case err != nil:
		return 0, err
	case !begins(final, d.head):
		return 0, fmt.Errorf("publish %s: there is a file of this name with other records", d.head.Name)
	}
	return final.Next, p.persist(ctx, askTimeout, func(ctx context.Context) error { return p.sweep(ctx, final) })
}

// sweep deletes the indexes of drafts that did not become the file.
func (p *publisher) sweep(ctx context.Context, head warc.Head) error {
	for object, err := range p.bucket.List(ctx, Stem(head.Name)+".") {
		if err != nil {
			return err
		}
		if strings.HasSuffix(object.Key, IndexExtension) && object.Key != IndexName(head) {
			if err := p.bucket.Delete(ctx, object.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// IndexExtension is the end of an index's name.
const IndexExtension = ".cdxj"

// IndexName is the name of a file's index. It has the file's end, too. So the index of a draft that
// did not become the file has another name.
func IndexName(h warc.Head) string {
	return fmt.Sprintf("%s.%015d%s", Stem(h.Name), h.Next, IndexExtension)
}

const (
	// askTimeout and sendTimeout bound one attempt to reach the bucket: a server may hang. A
	// file of 1 GB takes so long at 1.2 MB/s.
	askTimeout, sendTimeout = time.Minute, 15 * time.Minute
	// Waits between two attempts.
	firstWait, longestWait = 200 * time.Millisecond, 10 * time.Second
)

// persist repeats op until it succeeds. If ctx ends first, it returns the cause of ctx. It reports
// a bucket that does not work.
func (p *publisher) persist(ctx context.Context, timeout time.Duration, op func(context.Context) error) error {
	var since, told time.Time
	times := 0
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		attempt, cancel := context.WithTimeout(ctx, timeout)
		err := op(attempt)
		cancel()
		switch {
		case err == nil:
			if times > 0 {
				p.env.Logger.Info("the archive works again", "archive", p.bucket)
				p.env.Troubles.End(ctx, topics.Archive, trouble.Fails)
			}
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		times++
		if now := time.Now(); now.Sub(told) >= trouble.Again {
			if since.IsZero() {
				since = now
			}
			told = now
			p.env.Logger.Error("the archive cannot be written; its stage waits", "archive", p.bucket, "error", err)
			p.env.Troubles.Report(ctx, topics.Archive, trouble.Trouble{
				Kind: trouble.Fails, Says: fmt.Sprintf("the archive in %s cannot be written: %v", p.bucket, err), Times: times, Since: since, At: now,
			})
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sumOf identifies a record: after a crash of the broker another record may have its offset.
func sumOf(r *kgo.Record) string {
	return fmt.Sprintf("%08x-%d", crc32.Checksum(r.Value, crc32.MakeTable(crc32.Castagnoli)), len(r.Value))
}

// dateOf is the time of the exchange in a record, or else the time of the record.
func (p *publisher) dateOf(r *kgo.Record) time.Time {
	var x weftpb.Fetched
	if r.Topic != p.env.Names.Parsed && proto.Unmarshal(r.Value, &x) == nil {
		one := &x
		if x.GetRobots() != nil {
			one = x.GetRobots()
		}
		if ms := codecs.ExchangedMs(one); ms > 0 {
			return time.UnixMilli(ms)
		}
	}
	return r.Timestamp
}
