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

// ErrDamaged means that a log cannot be read in its middle. kfake would cut it
// there, and take what is behind for never written.
var ErrDamaged = errors.New("the logs are damaged")

// Damage is a stretch of a log that cannot be read, and is not its torn end:
// something intact stands behind it, or it was there when the broker last ended.
type Damage struct {
	Topic     string
	Partition int32
	// From is the first offset that cannot be read, and To the first behind it
	// that can; To is the log's end if there is none.
	From, To int64
	// Dir is the partition's folder.
	Dir string
}

func (d Damage) String() string {
	return fmt.Sprintf("%s/%d: %d to %d", d.Topic, d.Partition, d.From, d.To-1)
}

// FindDamage looks through the logs of the embedded broker in dir, which nobody
// has open.
func FindDamage(dir string) (found []Damage, err error) { return Walk(dir, nil) }

// Walk is FindDamage, and calls visit with every batch that is intact, partition
// by partition and in order.
func Walk(dir string, visit func(batch []byte, at Damage) error) (found []Damage, err error) {
	partitions, err := listPartitions(filepath.Join(dir, "kafka"))
	for _, p := range partitions {
		var show func(batch []byte, first, next int64) error
		if visit != nil {
			show = func(batch []byte, first, next int64) error { return visit(batch, p.damage(first, next)) }
		}
		damage, err := p.walk(show)
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
	return fmt.Errorf("%w: %v cannot be read%s; weft ledger repair shows what is lost, and mends it", ErrDamaged, found[0], more)
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

// walk calls visit, which may be nil, with every batch that is intact and its
// offsets, from first to before next, and returns what is damaged.
func (p logDir) walk(visit func(batch []byte, first, next int64) error) (found []Damage, err error) {
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
	for _, s := range segments {
		raw, err := os.ReadFile(filepath.Join(p.dir, strconv.FormatInt(s.BaseOffset, 10)+".dat"))
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
			if visit != nil {
				if err := visit(raw[at:at+size], first, end); err != nil {
					return nil, err
				}
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

func (p logDir) damage(from, to int64) Damage {
	return Damage{Topic: p.topic, Partition: p.partition, From: from, To: to, Dir: p.dir}
}

// batchAt returns the size in bytes and the offsets of the batch with which raw
// begins; a size of 0 if there is no intact one.
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
