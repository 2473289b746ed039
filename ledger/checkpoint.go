package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// checkpoint names a copy of a partition's state and what it is the fold of. It is
// written last: a copy without it does not count.
type checkpoint struct {
	Version int `json:"version"`
	// Ledger is the topic's id. Offsets of a topic that was made again mean nothing.
	Ledger string `json:"ledger"`
	// Dir is the copy's directory, beside this file.
	Dir string `json:"dir"`
	// Offset is the last event folded into the copy; Epoch the claim in force.
	Offset    int64               `json:"offset"`
	Epoch     int64               `json:"epoch"`
	Positions map[string]Position `json:"positions"`
	Strangers int64               `json:"strangers,omitempty"`
	// Record is the checksum of the event at Offset. After an unclean end the log
	// may have been written again from an earlier offset. Then the checkpoint does
	// not fit, although its offset does.
	Record uint32 `json:"record_crc32c"`
	// Files are the copy's files with their sizes in bytes.
	Files map[string]int64 `json:"files"`
	// Sums are the checksums of the files that are not tables. Tables have
	// checksums of their own. Pebble takes damage in its manifest for the
	// manifest's end, and would silently open an older state.
	Sums map[string]uint32 `json:"files_crc32c"`
}

const (
	// checkpointVersion changes with the format of checkpoints and the format of states. A
	// checkpoint of another version is not used: the state is rebuilt from the ledger.
	checkpointVersion = 4
	checkpointFile    = "CHECKPOINT"
	scratchDir        = "scratch"
)

// errNoCheckpoint means that a checkpoint cannot be used; the error that wraps it
// says why.
var errNoCheckpoint = errors.New("no usable checkpoint")

// sealed is the format of the file: the checkpoint and the checksum of its bytes.
type sealed struct {
	Checkpoint json.RawMessage `json:"checkpoint"`
	CRC32C     uint32          `json:"crc32c"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func seal(checkpoint any) ([]byte, error) {
	body, err := json.Marshal(checkpoint)
	if err != nil {
		return nil, fmt.Errorf("encode checkpoint: %w", err)
	}
	raw, err := json.Marshal(sealed{Checkpoint: body, CRC32C: checksum(body)})
	if err != nil {
		return nil, fmt.Errorf("encode checkpoint: %w", err)
	}
	return raw, nil
}

func unseal(raw []byte, checkpoint any) error {
	var s sealed
	if json.Unmarshal(raw, &s) != nil || checksum(s.Checkpoint) != s.CRC32C ||
		json.Unmarshal(s.Checkpoint, checkpoint) != nil {
		return fmt.Errorf("%w: damaged", errNoCheckpoint)
	}
	return nil
}

// readCheckpoint reads and verifies the published checkpoint in dir for the
// ledger with the given topic id.
func readCheckpoint(dir, ledger string) (checkpoint, error) {
	raw, err := os.ReadFile(filepath.Join(dir, checkpointFile))
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoint{}, fmt.Errorf("%w: none is published", errNoCheckpoint)
	}
	if err != nil {
		return checkpoint{}, fmt.Errorf("read checkpoint: %w", err)
	}
	var c checkpoint
	if err := unseal(raw, &c); err != nil {
		return checkpoint{}, err
	}
	if c.Version != checkpointVersion {
		return checkpoint{}, fmt.Errorf("%w: version %d", errNoCheckpoint, c.Version)
	}
	if c.Ledger != ledger {
		return checkpoint{}, fmt.Errorf("%w: of another topic %s", errNoCheckpoint, c.Ledger)
	}
	files, err := listFiles(filepath.Join(dir, c.Dir))
	if err != nil {
		return checkpoint{}, fmt.Errorf("%w: %w", errNoCheckpoint, err)
	}
	for name, size := range c.Files {
		if files[name] != size {
			return checkpoint{}, fmt.Errorf("%w: %s has %d bytes instead of %d", errNoCheckpoint, name, files[name], size)
		}
	}
	sums, err := sumFiles(filepath.Join(dir, c.Dir), c.Files)
	if err != nil {
		return checkpoint{}, err
	}
	if !maps.Equal(sums, c.Sums) {
		return checkpoint{}, fmt.Errorf("%w: a file is damaged", errNoCheckpoint)
	}
	return c, nil
}

func (c checkpoint) folded() Folded {
	return Folded{Offset: c.Offset, Epoch: c.Epoch, Positions: c.Positions, Strangers: c.Strangers, Record: c.Record}
}

// fits checks the checkpoint against the ledger: the ledger reaches to the last event of the
// checkpoint and has what follows, and the event there is the event that was folded.
func (c checkpoint) fits(ctx context.Context, log source) error {
	bounds, err := log.bounds(ctx)
	if err != nil {
		return err
	}
	switch {
	case c.Offset >= bounds.End:
		return fmt.Errorf("%w: at offset %d, beyond the ledger's end %d", errNoCheckpoint, c.Offset, bounds.End)
	case c.Offset+1 < bounds.Start:
		return fmt.Errorf("%w: at offset %d, and the ledger begins at %d", errNoCheckpoint, c.Offset, bounds.Start)
	case c.Offset < bounds.Start:
		return nil // the event itself is trimmed, and was checked before that
	}
	last, err := log.record(ctx, c.Offset)
	if err == nil && checksum(last.Value) != c.Record {
		err = fmt.Errorf("%w: the event at %d is not the one that was folded", errNoCheckpoint, c.Offset)
	}
	return err
}

// publish makes c the checkpoint of dir and removes older copies.
func (c checkpoint) publish(dir string) error {
	raw, err := seal(c)
	if err != nil {
		return err
	}
	next := filepath.Join(dir, checkpointFile+".next")
	if err := os.WriteFile(next, raw, 0o644); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	if err := os.Rename(next, filepath.Join(dir, checkpointFile)); err != nil {
		return fmt.Errorf("publish checkpoint: %w", err)
	}
	return removeCopies(dir, c.Dir)
}

// discardCheckpoint removes the published checkpoint of dir, because it is damaged.
func discardCheckpoint(dir string) error {
	if err := os.Remove(filepath.Join(dir, checkpointFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("discard checkpoint: %w", err)
	}
	return removeCopies(dir, "")
}

// removeCopies removes every copy in dir but keep. The scratch store has links of
// its own to the files that it needs.
func removeCopies(dir, keep string) error {
	copies, err := fs.Glob(os.DirFS(dir), "copy-*")
	if err != nil {
		return fmt.Errorf("list checkpoints: %w", err)
	}
	for _, name := range copies {
		if name == keep {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("remove old checkpoint: %w", err)
		}
	}
	return nil
}

// listFiles returns the sizes in bytes of the regular files in dir.
func listFiles(dir string) (map[string]int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	files := make(map[string]int64, len(entries))
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", dir, err)
		}
		if info.Mode().IsRegular() {
			files[entry.Name()] = info.Size()
		}
	}
	return files, nil
}

// sumFiles returns the checksums of the files that are not tables.
func sumFiles(dir string, files map[string]int64) (map[string]uint32, error) {
	sums := map[string]uint32{}
	for name := range files {
		if filepath.Ext(name) == tableExt {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("read checkpoint: %w", err)
		}
		sums[name] = checksum(raw)
	}
	return sums, nil
}

// makeScratch makes dir/scratch anew: a working copy of the directory from, or an
// empty directory when from is "". Tables never change and are linked. Pebble
// appends to the other files, so they are copied.
func makeScratch(dir, from string) (string, error) {
	scratch := filepath.Join(dir, scratchDir)
	if err := os.RemoveAll(scratch); err != nil {
		return "", fmt.Errorf("clear scratch state: %w", err)
	}
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return "", fmt.Errorf("make scratch state: %w", err)
	}
	if from == "" {
		return scratch, nil
	}
	return scratch, cloneFiles(filepath.Join(dir, from), scratch)
}

// cloneFiles fills the directory to with the files of from, see makeScratch.
func cloneFiles(from, to string) error {
	files, err := listFiles(from)
	if err != nil {
		return err
	}
	for name := range files {
		src, dst := filepath.Join(from, name), filepath.Join(to, name)
		if filepath.Ext(name) == tableExt && os.Link(src, dst) == nil {
			continue
		}
		if err := vfs.Copy(noSync{vfs.Default}, src, dst); err != nil {
			return fmt.Errorf("copy checkpoint: %w", err)
		}
	}
	return nil
}

// tableExt ends the names of Pebble's tables, which never change.
const tableExt = ".sst"

// Published says what the published checkpoint of a partition is the fold of. dir
// holds the states of a process that does not run. It returns false when there is
// no checkpoint that can be used.
func Published(dir, ledger string, partition int32) (Folded, bool) {
	number := strconv.Itoa(int(partition))
	found, _ := fs.Glob(os.DirFS(dir), "*/"+ledger+"-*/"+number+"/"+checkpointFile)
	for _, name := range found {
		at := filepath.Join(dir, filepath.Dir(name))
		_, id, _ := strings.Cut(filepath.Base(filepath.Dir(at)), ledger+"-")
		c, err := readCheckpoint(at, id)
		if err == nil && checkOpens(filepath.Join(at, c.Dir)) == nil {
			return c.folded(), true
		}
	}
	return Folded{}, false
}
