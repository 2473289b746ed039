package archive

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/archive/jsonl"
	"github.com/weftcrawl/weft/topics"
)

// PageSink writes the records of parsed to files. It is not a consumer group: the files say where
// they end, so that each page is in them once.
type PageSink struct {
	env stage.Env
	out pageFiles

	mu    sync.Mutex
	next  map[int32]int64 // offsets that the sink goes on with
	quota Quota
	full  chan struct{}
}

type pageFiles interface {
	Append(partition int32, offset int64, record []byte) error
	Skip(partition int32, offset int64)
	Flush() error
}

// NewPageSink returns a sink into out that stops after max pages, counted from
// the beginning of the crawl; 0: never.
func NewPageSink(env stage.Env, out *jsonl.Pages, max int64) *PageSink {
	s := &PageSink{env: env, out: out, next: out.Offsets(), full: make(chan struct{})}
	s.quota = NewQuota(max, s.next)
	if s.next == nil {
		s.next = map[int32]int64{}
	}
	if s.quota.Full() {
		close(s.full)
	}
	return s
}

// Full is closed when max pages are written.
func (s *PageSink) Full() <-chan struct{} { return s.full }

// Written is the number of pages written since the crawl began.
func (s *PageSink) Written() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quota.Written()
}

// Reached tells whether everything before ends is written. After the end of Run it is
// recorded, too.
func (s *PageSink) Reached(ends map[int32]int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for partition, end := range ends {
		if s.next[partition] < end {
			return false
		}
	}
	return true
}

// flushEvery is the age at which written pages are recorded.
const flushEvery = time.Second

// Run writes pages until ctx ends or max is reached. At its end, everything that is
// written is recorded.
func (s *PageSink) Run(ctx context.Context) error {
	start := map[int32]kgo.Offset{}
	for p := range s.env.Definition.Partitions {
		start[p] = kgo.NewOffset().At(s.next[p])
	}
	client, err := s.env.Cluster.NewClient(
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{s.env.Names.Parsed: start}),
		kgo.FetchMaxBytes(1<<20), kgo.FetchMaxPartitionBytes(1<<19),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	rejects, err := s.env.NewOutbox(topics.Pages)
	if err != nil {
		return err
	}
	defer rejects.Close()
	select {
	case <-s.full: // by an earlier run
		<-ctx.Done()
		return nil
	default:
	}
	full, err := s.follow(ctx, client, rejects)
	if full {
		close(s.full)
		<-ctx.Done()
	}
	return err
}

// follow takes records until ctx ends or the files are full. It flushes about every flushEvery,
// and at its end.
func (s *PageSink) follow(ctx context.Context, client *kgo.Client, rejects *stage.Outbox) (full bool, err error) {
	flushed := time.Now()
	for ended := false; !ended; {
		poll, cancel := context.WithTimeout(ctx, flushEvery)
		fetches := client.PollRecords(poll, 1000)
		cancel()
		if err := stage.PollError(fetches); err != nil && ctx.Err() == nil {
			return false, err
		}
		for it := fetches.RecordIter(); !it.Done() && !full; {
			if full, err = s.take(ctx, it.Next(), rejects); err != nil {
				return false, err
			}
		}
		ended = full || ctx.Err() != nil
		if ended || time.Since(flushed) >= flushEvery {
			if err := s.out.Flush(); err != nil {
				return false, err
			}
			flushed = time.Now()
		}
	}
	return full, nil
}

func (s *PageSink) take(ctx context.Context, r *kgo.Record, rejects *stage.Outbox) (full bool, err error) {
	written := isPage(r.Value)
	if written {
		var panicked bool
		panicked, err = rejects.RejectOnPanic(ctx, r, func() error { return s.out.Append(r.Partition, r.Offset, r.Value) })
		written = !panicked
	} else {
		err = rejects.Reject(ctx, r, reasonNoPage)
	}
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if written {
		s.quota.Write()
	} else {
		s.out.Skip(r.Partition, r.Offset)
	}
	s.next[r.Partition] = r.Offset + 1
	return s.quota.Full(), nil
}

// reasonNoPage is the reason of a record of parsed that is not a page: another program
// wrote it. In a file it would not be a line of JSON.
const reasonNoPage = "undecodable"

// isPage tells a page from what other programs write to parsed. It decodes only the beginning of a
// long page. In the rest it checks only the last byte, and that there is no line break.
func isPage(value []byte) bool {
	print, err := codecs.DecodeParsedFingerprints(value)
	return err == nil && print.ID != "" && print.URL != "" && value[len(value)-1] == '}' && bytes.IndexByte(value, '\n') < 0
}

// Quota counts the pages of a crawl against its limit (--max-pages).
type Quota struct {
	max     int64 // 0: no limit
	written int64
}

// NewQuota returns the quota of a crawl whose files go on at these offsets of parsed.
// Everything before them is written.
func NewQuota(max int64, next map[int32]int64) Quota {
	q := Quota{max: max}
	for _, offset := range next {
		q.written += offset
	}
	return q
}

// Full tells whether no further page may be written.
func (q *Quota) Full() bool { return q.max > 0 && q.written >= q.max }

// Write counts a page that is written.
func (q *Quota) Write() { q.written++ }

// Written is the number of pages since the crawl began.
func (q *Quota) Written() int64 { return q.written }
