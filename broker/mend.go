package broker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kfake ends with a snapshot of each partition beside its segments. After a
// kill there is none that fits, and kfake then holds all of a partition's
// records in memory while it makes sense of them: 872 MiB for 859 MiB of logs,
// where a start from snapshots takes one segment of each partition at a time.
//
// mend makes the snapshots that are missing. All that they say follows from the
// names and sizes of the segments and from the headers of their batches. What
// mend is not sure about it leaves to kfake.

// snapshot is kfake's snapshot.json, version 1.
type snapshot struct {
	Version          int       `json:"version"`
	HighWatermark    int64     `json:"high_watermark"`
	LastStableOffset int64     `json:"last_stable_offset"`
	LogStartOffset   int64     `json:"log_start_offset"`
	Epoch            int32     `json:"epoch"`
	LeaderNode       int32     `json:"leader_node,omitempty"`
	MaxTimestamp     int64     `json:"max_timestamp"`
	CreatedAt        time.Time `json:"created_at"`
	AbortedTxns      []any     `json:"aborted_txns,omitempty"`
	Segments         []segment `json:"segments"`
}

// segment is a file of batches, named for its first offset.
type segment struct {
	BaseOffset int64 `json:"base_offset"`
	Size       int64 `json:"size"`
	MinEpoch   int32 `json:"min_epoch,omitempty"`
	MaxEpoch   int32 `json:"max_epoch,omitempty"`
}

const (
	snapshotName    = "snapshot.json"
	snapshotVersion = 1
)

// mend brings the snapshots of all partitions below logs up to date.
func mend(logs string) error {
	partitions, err := os.ReadDir(filepath.Join(logs, "partitions"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, p := range partitions {
		dir := filepath.Join(logs, "partitions", p.Name())
		if err := mendPartition(dir); err != nil {
			return fmt.Errorf("mend %s: %w", dir, err)
		}
	}
	return nil
}

func mendPartition(dir string) error {
	segments, err := listSegments(dir)
	if err != nil || len(segments) == 0 {
		return err
	}
	old, fits := readSnapshot(dir, segments)
	if fits {
		return nil
	}
	snap := snapshot{Version: snapshotVersion, LogStartOffset: segments[0].BaseOffset}
	for i := range segments {
		s := &segments[i]
		// Only the last file can end in the middle of a batch, and what a
		// batch holds is checked by kfake when it reads it.
		last := i == len(segments)-1
		if err := scan(dir, s, &snap, last); err != nil {
			if errors.Is(err, errNotOurs) {
				return nil
			}
			return err
		}
	}
	if segments, err = dropEmpty(dir, segments); err != nil || len(segments) == 0 {
		return err
	}
	snap.Segments = segments
	snap.LastStableOffset = snap.HighWatermark
	// Trimming is remembered by snapshots only. An older one is right, if not
	// up to date: what it says was trimmed is not wanted.
	if old.LogStartOffset > snap.LogStartOffset && old.LogStartOffset <= snap.HighWatermark {
		snap.LogStartOffset = old.LogStartOffset
	}
	return writeSnapshot(dir, snap)
}

// dropEmpty removes a last segment in which no batch was finished.
func dropEmpty(dir string, segments []segment) ([]segment, error) {
	last := segments[len(segments)-1]
	if last.Size > 0 {
		return segments, nil
	}
	for _, extension := range []string{".dat", ".idx"} {
		err := os.Remove(filepath.Join(dir, strconv.FormatInt(last.BaseOffset, 10)+extension))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return segments[:len(segments)-1], nil
}

// listSegments returns the segment files of a partition, in order.
func listSegments(dir string) (segments []segment, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".dat")
		base, err := strconv.ParseInt(name, 10, 64)
		if !ok || err != nil {
			continue
		}
		info, err := f.Info()
		if err != nil {
			return nil, err
		}
		segments = append(segments, segment{BaseOffset: base, Size: info.Size()})
	}
	slices.SortFunc(segments, func(a, b segment) int { return int(a.BaseOffset - b.BaseOffset) })
	return segments, nil
}

// readSnapshot reads a partition's snapshot, and says whether kfake will use
// it: whether it names the segments that are there.
func readSnapshot(dir string, segments []segment) (s snapshot, fits bool) {
	raw, err := os.ReadFile(filepath.Join(dir, snapshotName))
	if err != nil || json.Unmarshal(raw, &s) != nil || s.Version != snapshotVersion {
		return snapshot{}, false
	}
	return s, slices.EqualFunc(s.Segments, segments, func(a, b segment) bool {
		return a.BaseOffset == b.BaseOffset && a.Size == b.Size
	})
}

// errNotOurs is a log that only kfake can make sense of.
var errNotOurs = errors.New("not a plain log")

// The header of a record batch, format 2 (Kafka protocol guide, "Record
// Batch"): big-endian fields at fixed offsets.
const (
	batchHeaderBytes  = 61
	batchLengthAt     = 8  // int32, of what follows it
	batchEpochAt      = 12 // int32
	batchMagicAt      = 16 // int8
	batchCRCAt        = 17 // uint32, of what follows it
	batchAttributesAt = 21 // int16
	batchLastDeltaAt  = 23 // int32
	batchFirstTimeAt  = 27 // int64, milliseconds
	batchMaxTimeAt    = 35 // int64, milliseconds

	// transactional and control batches have a story that their headers do
	// not tell.
	batchTransactional = 1<<4 | 1<<5
)

// scan reads the headers of a segment's batches into snap. Where the last
// segment ends in the middle of a batch it is cut; elsewhere that is not ours.
func scan(dir string, s *segment, snap *snapshot, last bool) error {
	f, err := os.OpenFile(filepath.Join(dir, strconv.FormatInt(s.BaseOffset, 10)+".dat"), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var (
		header [batchHeaderBytes]byte
		at     int64
	)
	for at < s.Size {
		_, err := f.ReadAt(header[:min(batchHeaderBytes, s.Size-at)], at)
		if err != nil {
			return err
		}
		size := 12 + int64(binary.BigEndian.Uint32(header[batchLengthAt:]))
		whole := size >= batchHeaderBytes && at+size <= s.Size
		if whole && last {
			if whole, err = intact(f, at, size, binary.BigEndian.Uint32(header[batchCRCAt:])); err != nil {
				return err
			}
		}
		if !whole && last {
			s.Size = at
			return f.Truncate(at)
		}
		attributes := binary.BigEndian.Uint16(header[batchAttributesAt:])
		if !whole || header[batchMagicAt] != 2 || attributes&batchTransactional != 0 {
			return errNotOurs
		}
		snap.add(s, header[:])
		at += size
	}
	return nil
}

// add takes a batch into account.
func (snap *snapshot) add(s *segment, header []byte) {
	epoch := int32(binary.BigEndian.Uint32(header[batchEpochAt:]))
	if snap.HighWatermark == 0 {
		snap.CreatedAt = time.UnixMilli(int64(binary.BigEndian.Uint64(header[batchFirstTimeAt:])))
	}
	offset := int64(binary.BigEndian.Uint64(header))
	snap.HighWatermark = offset + int64(binary.BigEndian.Uint32(header[batchLastDeltaAt:])) + 1
	snap.MaxTimestamp = max(snap.MaxTimestamp, int64(binary.BigEndian.Uint64(header[batchMaxTimeAt:])))
	if offset == s.BaseOffset {
		s.MinEpoch = epoch
	}
	s.MinEpoch, s.MaxEpoch = min(s.MinEpoch, epoch), max(s.MaxEpoch, epoch)
	snap.Epoch = epoch
}

// intact verifies the checksum of the batch at an offset of a file.
func intact(f *os.File, at, size int64, want uint32) (bool, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.Copy(sum, io.NewSectionReader(f, at+batchAttributesAt, size-batchAttributesAt)); err != nil {
		return false, err
	}
	return sum.Sum32() == want, nil
}

func writeSnapshot(dir string, snap snapshot) error {
	raw, err := json.Marshal(snap)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, snapshotName)
	if err := os.WriteFile(path+".tmp", raw, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}
