package broker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrDamaged means that the middle of a log cannot be read. kfake would cut the log there and
// lose the rest.
var ErrDamaged = errors.New("the logs are damaged")

// Damage is a part of a log that cannot be read and is not its torn end: an intact batch
// follows it, or it was there when the broker last ended.
type Damage struct {
	Topic     string
	Partition int32
	// From is the first offset that cannot be read, To the next one that can; without one
	// To is the log's end.
	From, To int64
	// Dir is the partition's folder.
	Dir string
}

func (d Damage) String() string {
	return fmt.Sprintf("%s/%d: %d to %d", d.Topic, d.Partition, d.From, d.To-1)
}

// FindDamage searches the logs of the embedded broker in dir, which no process may have open.
func FindDamage(dir string) (found []Damage, err error) {
	return Walk(dir, func([]byte, Damage) error { return nil })
}

// Walk is FindDamage that also calls visit with every intact batch, partition by partition and
// in order.
func Walk(dir string, visit func(batch []byte, at Damage) error) (found []Damage, err error) {
	partitions, err := listPartitions(filepath.Join(dir, "kafka"))
	for _, p := range partitions {
		damage, err := p.walk(func(b logBatch) error { return visit(b.raw, p.damage(b.first, b.next)) })
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", p.dir, err)
		}
		found = append(found, damage...)
	}
	return found, err
}

// damaged is the error of a broker whose logs are damaged.
func damaged(found []Damage) error {
	more := ""
	if len(found) > 1 {
		more = fmt.Sprintf(" and %d other places", len(found)-1)
	}
	return fmt.Errorf("%w: %v cannot be read%s; weft ledger repair shows what is lost, and repairs it", ErrDamaged, found[0], more)
}

// logDir is the folder of a partition.
type logDir struct {
	dir       string
	topic     string
	partition int32
}

func listPartitions(logs string) (all []logDir, err error) {
	entries, err := os.ReadDir(filepath.Join(logs, "partitions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		name, number := e.Name(), strings.LastIndexByte(e.Name(), '-')
		if number < 0 {
			continue
		}
		topic, err1 := url.PathUnescape(name[:number])
		partition, err2 := strconv.ParseInt(name[number+1:], 10, 32)
		if err1 == nil && err2 == nil {
			all = append(all, logDir{filepath.Join(logs, "partitions", name), topic, int32(partition)})
		}
	}
	return all, err
}

type logBatch struct {
	raw         []byte
	first, next int64 // offsets
	segment, at int   // its place: the index of its segment, and its byte there
}

// walk calls visit with every intact batch. It returns the damage.
func (p logDir) walk(visit func(logBatch) error) (found []Damage, err error) {
	segments, err := listSegments(p.dir)
	if err != nil || len(segments) == 0 {
		return nil, err
	}
	gaps, err := readGaps(p.dir)
	if err != nil {
		return nil, err
	}
	old, _ := readSnapshot(p.dir, segments)
	next, torn := segments[0].BaseOffset, false
	for i, s := range segments {
		raw, err := os.ReadFile(p.segment(s))
		if err != nil {
			return nil, err
		}
		for at := 0; at < len(raw); {
			size, first, end := batchAt(raw[at:])
			if size == 0 || first < next {
				torn = true
				at++
				continue
			}
			if first > next && !slices.Contains(gaps, gap{next, first}) {
				found = append(found, p.damage(next, first))
			}
			if err := visit(logBatch{raw[at : at+size], first, end, i, at}); err != nil {
				return nil, err
			}
			at, next, torn = at+size, end, false
		}
	}
	if torn && old.HighWatermark > next {
		found = append(found, p.damage(next, old.HighWatermark))
	}
	for len(found) > 0 && found[0].To <= old.LogStartOffset {
		found = found[1:] // it was trimmed
	}
	return found, nil
}

func (p logDir) segment(s segment) string {
	return filepath.Join(p.dir, strconv.FormatInt(s.BaseOffset, 10)+".dat")
}

func (p logDir) damage(from, to int64) Damage {
	return Damage{Topic: p.topic, Partition: p.partition, From: from, To: to, Dir: p.dir}
}

// batchAt returns the size in bytes and the offsets of the batch at the beginning of raw; a size
// of 0 if there is no intact batch.
func batchAt(raw []byte) (size int, first, next int64) {
	if len(raw) < batchHeaderBytes || raw[batchMagicAt] != 2 {
		return 0, 0, 0
	}
	length := binary.BigEndian.Uint32(raw[batchLengthAt:])
	if length < batchHeaderBytes-12 || uint64(length) > uint64(len(raw)-12) {
		return 0, 0, 0
	}
	size = 12 + int(length)
	if crc32.Checksum(raw[batchAttributesAt:size], castagnoli) != binary.BigEndian.Uint32(raw[batchCRCAt:]) {
		return 0, 0, 0
	}
	first = int64(binary.BigEndian.Uint64(raw))
	return size, first, first + int64(binary.BigEndian.Uint32(raw[batchLastDeltaAt:])) + 1
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
