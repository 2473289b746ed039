package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
)

// Pages writes records as JSON lines. It is not safe for concurrent use.
type Pages struct {
	options Options
	// state as it was last recorded.
	state state
	// next offset of each partition, counting what is appended.
	next  map[int32]int64
	file  *os.File // nil with a stream, and in a directory before the first file
	out   *frame
	count *counter
	dirty bool
	err   error
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Open goes on where the recorded output ends, and removes everything behind this place. A
// caller can explain the errors ErrDamaged, ErrNoState and ErrOtherTopic.
func Open(options Options) (*Pages, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	o := options.withDefaults()
	p := &Pages{options: o, next: map[int32]int64{}, count: &counter{}}
	out, err := newFrame(p.count, o.Compression)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	p.out = out
	if err := p.recover(); err != nil {
		if p.file != nil {
			err = errors.Join(err, p.file.Close())
		}
		return nil, err
	}
	return p, nil
}

func (p *Pages) recover() error {
	o := p.options
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o755); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	s, known := state{}, false
	if o.StateFile != "" {
		var err error
		if s, known, err = readState(o.StateFile); err != nil {
			return err
		}
	}
	if known && o.Topic != "" && s.Topic != "" && s.Topic != o.Topic {
		return fmt.Errorf("%w: %s was written from %s, not from %s", ErrOtherTopic, o.StateFile, s.Topic, o.Topic)
	}
	if !known {
		s = state{Version: stateVersion, Compression: o.Compression}
	}
	if o.Topic != "" {
		s.Topic = o.Topic
	}
	p.state = s
	maps.Copy(p.next, s.Next)
	if err := p.openFiles(known); err != nil {
		return err
	}
	// The sidecar exists from the first moment. So this package did not write files without a
	// sidecar.
	return p.record()
}

// Append adds one record, a JSON value without a newline, as a line. A record below the
// partition's next offset is in the output already and is skipped. Offsets may have gaps.
// The record is not kept after the call.
func (p *Pages) Append(partition int32, offset int64, record []byte) error {
	if p.err != nil {
		return p.err
	}
	if offset < p.next[partition] {
		return nil
	}
	if bytes.IndexByte(record, '\n') >= 0 {
		return fmt.Errorf("output: record %d of partition %d has a newline in it", offset, partition)
	}
	if p.options.Dir != "" && p.file == nil {
		if err := p.create(); err != nil {
			return p.fail(err)
		}
	}
	if _, err := p.out.Write(record); err != nil {
		return p.fail(err)
	}
	if _, err := p.out.Write([]byte{'\n'}); err != nil {
		return p.fail(err)
	}
	p.next[partition] = offset + 1
	p.dirty = true
	// Bytes in the compressor are not counted: rotation looks at what has reached the
	// file.
	if p.options.Dir != "" && p.count.n >= p.options.MaxBytes {
		return p.rotate()
	}
	return nil
}

// Skip leaves a record that cannot be written out of the output for good.
func (p *Pages) Skip(partition int32, offset int64) {
	if offset >= p.next[partition] {
		p.next[partition] = offset + 1
		p.dirty = true
	}
}

// Flush writes out what was appended and records it.
func (p *Pages) Flush() error {
	if p.err != nil {
		return p.err
	}
	if !p.dirty {
		return nil
	}
	if err := p.out.end(); err != nil {
		return p.fail(err)
	}
	if p.options.Sync && p.file != nil {
		if err := p.file.Sync(); err != nil {
			return p.fail(err)
		}
	}
	p.state.Length = p.count.n
	p.state.Next = maps.Clone(p.next)
	if err := p.record(); err != nil {
		return p.fail(err)
	}
	p.dirty = false
	return nil
}

// Offsets are the recorded next offsets of the partitions: a consumer begins with them
// after Open, and may commit them after Flush.
func (p *Pages) Offsets() map[int32]int64 {
	offsets := maps.Clone(p.state.Next)
	if offsets == nil {
		offsets = map[int32]int64{}
	}
	return offsets
}

// Rewind sets the next offset of a partition back and records it, for a log that ends
// before that offset: when a broker ends uncleanly, records may be lost, and other records
// get their offsets. What was written stays.
func (p *Pages) Rewind(partition int32, next int64) error {
	if p.err != nil {
		return p.err
	}
	if next >= p.next[partition] {
		return fmt.Errorf("output: rewind partition %d to %d: it is at %d", partition, next, p.next[partition])
	}
	p.next[partition] = next
	p.dirty = true
	return p.Flush()
}

// Close flushes and closes the current file, but not a stream.
func (p *Pages) Close() error {
	err := p.Flush()
	if p.file != nil {
		err = errors.Join(err, p.file.Close())
		p.file = nil
	}
	p.err = errClosed
	return err
}

var errClosed = errors.New("output: closed")

func (p *Pages) record() error {
	if p.options.StateFile == "" {
		return nil
	}
	return p.state.write(p.options.StateFile, p.options.Sync)
}

func (p *Pages) fail(err error) error {
	p.err = fmt.Errorf("write pages: %w", err)
	return p.err
}
