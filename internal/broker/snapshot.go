package broker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kfake writes at its end a snapshot of each partition beside its segments. After a kill there
// is no valid snapshot, and kfake loads all records of a partition into memory: 872 MiB for
// 859 MiB of logs. A start from snapshots loads one segment of each partition at a time.
//
// rebuildSnapshots makes the missing snapshots from the names and sizes of the segments and the headers of
// their batches. It leaves unclear cases to kfake.

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

// rebuildSnapshots brings the snapshots of all partitions below logs up to date.
func rebuildSnapshots(logs string) error {
	partitions, err := listPartitions(logs)
	for _, p := range partitions {
		if err := p.rebuildSnapshot(); err != nil {
			return fmt.Errorf("rebuild the snapshot of %s: %w", p.dir, err)
		}
	}
	return err
}

func (p logDir) rebuildSnapshot() error {
	segments, err := listSegments(p.dir)
	if err != nil || len(segments) == 0 {
		return err
	}
	old, fits := readSnapshot(p.dir, segments)
	if fits {
		return nil
	}
	snap := snapshot{Version: snapshotVersion, LogStartOffset: segments[0].BaseOffset}
	last := len(segments) - 1
	read := make([]int64, len(segments)) // bytes before the first one that is not of a batch
	_, err = p.walk(func(b logBatch) error {
		switch {
		case int64(b.at) != read[b.segment]:
			return nil
		case binary.BigEndian.Uint16(b.raw[batchAttributesAt:])&batchTransactional != 0:
			return errNotOurs
		}
		read[b.segment] += int64(len(b.raw))
		snap.add(&segments[b.segment], b)
		return nil
	})
	for i, s := range segments[:last] {
		if err == nil && read[i] < s.Size { // only the last file can end in the middle of a batch
			err = errNotOurs
		}
	}
	if err != nil {
		if errors.Is(err, errNotOurs) {
			return nil
		}
		return err
	}
	if read[last] < segments[last].Size {
		segments[last].Size = read[last]
		if err := os.Truncate(p.segment(segments[last]), read[last]); err != nil {
			return err
		}
	}
	if segments, err = p.dropEmpty(segments); err != nil || len(segments) == 0 {
		return err
	}
	snap.Segments = segments
	snap.LastStableOffset = snap.HighWatermark
	// Only snapshots record trimming. An older one is correct, but perhaps not the latest:
	// what it calls trimmed was trimmed.
	if old.LogStartOffset > snap.LogStartOffset && old.LogStartOffset <= snap.HighWatermark {
		snap.LogStartOffset = old.LogStartOffset
	}
	raw, err := json.Marshal(snap)
	if err != nil {
		return err
	}
	return replace(filepath.Join(p.dir, snapshotName), raw, 0o644)
}

// dropEmpty removes a last segment in which no batch was finished.
func (p logDir) dropEmpty(segments []segment) ([]segment, error) {
	last := segments[len(segments)-1]
	if last.Size > 0 {
		return segments, nil
	}
	data := p.segment(last)
	for _, name := range []string{data, strings.TrimSuffix(data, ".dat") + ".idx"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
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

// readSnapshot reads a partition's snapshot. fits reports whether kfake will use it: whether it
// names the present segments.
func readSnapshot(dir string, segments []segment) (s snapshot, fits bool) {
	raw, err := os.ReadFile(filepath.Join(dir, snapshotName))
	if err != nil || json.Unmarshal(raw, &s) != nil || s.Version != snapshotVersion {
		return snapshot{}, false
	}
	return s, slices.EqualFunc(s.Segments, segments, func(a, b segment) bool {
		return a.BaseOffset == b.BaseOffset && a.Size == b.Size
	})
}

// errNotOurs is a log that only kfake can interpret.
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

	// The headers of transactional and control batches are not sufficient.
	batchTransactional = 1<<4 | 1<<5
)

func (snap *snapshot) add(s *segment, b logBatch) {
	epoch := int32(binary.BigEndian.Uint32(b.raw[batchEpochAt:]))
	if snap.HighWatermark == 0 {
		snap.CreatedAt = time.UnixMilli(int64(binary.BigEndian.Uint64(b.raw[batchFirstTimeAt:])))
	}
	snap.HighWatermark = b.next
	snap.MaxTimestamp = max(snap.MaxTimestamp, int64(binary.BigEndian.Uint64(b.raw[batchMaxTimeAt:])))
	if b.first == s.BaseOffset {
		s.MinEpoch = epoch
	}
	s.MinEpoch, s.MaxEpoch = min(s.MinEpoch, epoch), max(s.MaxEpoch, epoch)
	snap.Epoch = epoch
}
