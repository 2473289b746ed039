package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/processors/archive/warc"
)

// source is a partition of a topic that the archiver reads.
type source struct {
	topic     string
	partition int32
}

// set is the source in the form that clients take.
func (s source) set() map[string][]int32 { return map[string][]int32{s.topic: {s.partition}} }

// part is what the archiver does in one source.
type part struct {
	// waiting are records that were read and are not archived yet.
	waiting []*kgo.Record
	bytes   int  // of their values
	paused  bool // the partition is not read, because they are too many
	// next is the offset of the first record that is not archived; 0: it is not known yet.
	next int64
	// commit is the offset to commit; 0: there is nothing to commit.
	commit int64
	draft  *draft             // nil: no file is begun
	job    context.CancelFunc // of the job that runs; nil: no job runs
	heard  time.Time          // when the last record came
}

// drop forgets a partition, and ends its job.
func (p *part) drop() {
	if p.job != nil {
		p.job()
	}
	if p.draft != nil {
		p.draft.close()
		p.draft = nil
	}
}

// answer is the result of a job.
type answer struct {
	from source
	part *part
	then func(owned bool)
	err  error
}

// old tells whether a draft spans an age, or exists for so long. If no more records come, the
// age counts from the first record, which may have waited in the topic.
func (d *draft) old(age time.Duration, idle bool) bool {
	return time.Since(d.begun) >= age || d.last.Sub(d.first) >= age || idle && time.Since(d.first) >= age
}

// draft is a file that is not published. It has no name in the file system.
type draft struct {
	head  warc.Head
	begun time.Time
	// first and last are the times of the first and the last record.
	first, last time.Time
	warc        *warc.File
	file, index *os.File
	out         *bufio.Writer
}

func newDraft(head warc.Head, p *warc.Packer, dir string) (*draft, error) {
	file, err := unnamed(dir)
	if err != nil {
		return nil, fmt.Errorf("begin a draft of %s: %w", head.Name, err)
	}
	index, err := unnamed(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin a draft of %s: %w", head.Name, err), file.Close())
	}
	d := &draft{head: head, begun: time.Now(), file: file, index: index, out: bufio.NewWriterSize(file, 256<<10)}
	d.warc = warc.NewFile(d.out, index, p)
	return d, nil
}

// unnamed returns a file that ends with its process.
func unnamed(dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "archive-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// body returns the bytes of a draft that is complete, from their beginning.
func (d *draft) body() io.Reader { return io.NewSectionReader(d.file, 0, d.warc.Size()) }

func (d *draft) close() { // what is in the files is read, or not needed
	_ = d.file.Close()
	_ = d.index.Close()
}
