package processors

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/output"
	"github.com/weftcrawl/weft/topics"
)

// PageSink writes the records of parsed to files. It has no group: the files
// themselves say where they end, so that each page is in them once.
type PageSink struct {
	env Env
	out pageFiles

	mu    sync.Mutex
	next  map[int32]int64 // offsets that the sink goes on with
	quota Quota
	full  chan struct{}
}

// pageFiles is the part of output.Pages that writes.
type pageFiles interface {
	Append(partition int32, offset int64, record []byte) error
	Skip(partition int32, offset int64)
	Flush() error
}

// NewPageSink returns a sink into out that stops after max pages, counted from
// the beginning of the crawl; 0: never.
func NewPageSink(env Env, out *output.Pages, max int64) *PageSink {
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

// Reached tells whether everything below ends is written; it is recorded when Run
// has ended.
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

// Run writes pages until ctx ends or max is reached. It leaves everything
// written recorded.
func (s *PageSink) Run(ctx context.Context) error {
	start := map[int32]kgo.Offset{}
	for p := range s.env.Definition.Partitions {
		start[p] = kgo.NewOffset().At(s.next[p])
	}
	client, err := s.env.client(
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{s.env.Names.Parsed: start}),
		kgo.FetchMaxBytes(2<<20), kgo.FetchMaxPartitionBytes(1<<20),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	aside, err := s.env.aside(topics.Pages)
	if err != nil {
		return err
	}
	defer aside.client.Close()
	select {
	case <-s.full: // by an earlier run
		<-ctx.Done()
		return nil
	default:
	}
	flushed := time.Now()
	for {
		poll, cancel := context.WithTimeout(ctx, flushEvery)
		fetches := client.PollRecords(poll, 1000)
		cancel()
		if err := pollError(fetches); err != nil && ctx.Err() == nil {
			return err
		}
		full, err := s.append(ctx, fetches, aside)
		if err != nil {
			return err
		}
		if ctx.Err() != nil || full || time.Since(flushed) >= flushEvery {
			if err := s.out.Flush(); err != nil {
				return err
			}
			flushed = time.Now()
		}
		if full {
			close(s.full)
			<-ctx.Done()
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// append writes records up to max, and tells whether that is reached.
func (s *PageSink) append(ctx context.Context, fetches kgo.Fetches, aside *outbox) (full bool, err error) {
	for it := fetches.RecordIter(); !it.Done(); {
		if s.isFull() {
			break
		}
		r := it.Next()
		if !isPage(r.Value) {
			if err := aside.setAside(ctx, r, reasonNoPage); err != nil {
				return false, err
			}
			s.out.Skip(r.Partition, r.Offset)
			s.pass(r, false)
			continue
		}
		panicked, err := aside.unlessPanic(ctx, r, func() error { return s.out.Append(r.Partition, r.Offset, r.Value) })
		if err != nil {
			return false, err
		}
		if panicked {
			s.out.Skip(r.Partition, r.Offset)
		}
		s.pass(r, !panicked)
	}
	return s.isFull(), nil
}

// reasonNoPage is the reason of a record of parsed that is no page: only another
// program can have written it. In a file it would not be a line of JSON.
const reasonNoPage = "undecodable"

// isPage tells a page from what others write to parsed. The end of a long page is
// not parsed, only looked at.
func isPage(value []byte) bool {
	print, err := codecs.DecodeParsedPrint(value)
	return err == nil && print.ID != "" && print.URL != "" && value[len(value)-1] == '}' && bytes.IndexByte(value, '\n') < 0
}

// pass notes that a record is dealt with.
func (s *PageSink) pass(r *kgo.Record, written bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if written {
		s.quota.Write()
	}
	s.next[r.Partition] = r.Offset + 1
}

func (s *PageSink) isFull() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.quota.Full()
}
