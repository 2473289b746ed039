package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/weftcrawl/weft/internal/dirlock"
)

// Keep reports whether a batch of a damaged partition stays, by its offsets from first to before
// next.
type Keep func(first, next int64) bool

// Repair rewrites the damaged partitions of the broker in dir, which no process may have open.
// Intact batches that keep selects keep their offsets. The old partitions are moved to the
// folder aside, which must not exist.
func Repair(dir, aside string, keep map[string]Keep) (err error) {
	lock, err := dirlock.Take(dir, lockFile)
	if err != nil {
		return fmt.Errorf("embedded broker: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := os.Mkdir(aside, 0o755); err != nil {
		return fmt.Errorf("keep a copy of the damaged data: %w", err)
	}
	partitions, err := listPartitions(filepath.Join(dir, "kafka"))
	if err != nil {
		return err
	}
	for _, p := range partitions {
		wanted, ok := keep[p.dir]
		if !ok {
			continue
		}
		fresh := filepath.Join(aside, "fresh")
		if err := p.rewrite(fresh, wanted); err != nil {
			return fmt.Errorf("repair %s: %w", p.dir, err)
		}
		if err := os.Rename(p.dir, filepath.Join(aside, filepath.Base(p.dir))); err != nil {
			return fmt.Errorf("keep a copy of the damaged data: %w", err)
		}
		if err := os.Rename(fresh, p.dir); err != nil {
			return fmt.Errorf("repair %s: %w", p.dir, err)
		}
	}
	return nil
}

// gap is a range of offsets that a repair has left out, from From to before To.
type gap struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// gapsName is a file beside a repaired partition's segments. Its gaps are not damage: without
// the file the next start would report them again.
const gapsName = "left-out.json"

func readGaps(dir string) (all []gap, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, gapsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the records that a repair left out: %w", err)
	}
	return all, nil
}

func writeGaps(dir string, all []gap) error {
	if len(all) == 0 {
		return nil
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, gapsName), raw, 0o644)
}

// rewrite writes the wanted batches into the folder to. A new segment begins after each gap,
// because a segment is named for its first offset.
func (p logDir) rewrite(to string, wanted Keep) (err error) {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	var out *os.File
	defer func() {
		if out != nil {
			err = errors.Join(err, out.Close())
		}
	}()
	size, at := 0, int64(-1)
	var gaps []gap
	_, err = p.walk(func(b logBatch) error {
		if !wanted(b.first, b.next) {
			return nil
		}
		if b.first != at || size > segmentBytes {
			if out != nil {
				if err := out.Close(); err != nil {
					return err
				}
			}
			if out, err = os.Create(logDir{dir: to}.segment(segment{BaseOffset: b.first})); err != nil {
				return err
			}
			if at >= 0 && b.first != at {
				gaps = append(gaps, gap{at, b.first})
			}
			size = 0
		}
		n, err := out.Write(b.raw)
		size, at = size+n, b.next
		return err
	})
	return errors.Join(err, writeGaps(to, gaps))
}

// view makes a folder with the readable part of damaged logs. It must not be written: intact
// files are links and not copies.
func view(logs, to string, found []Damage) error {
	damaged := map[string]bool{}
	for _, d := range found {
		damaged[d.Dir] = true
	}
	return filepath.WalkDir(logs, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(logs, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case damaged[path]:
			p := logDir{dir: path}
			if err := p.rewrite(target, func(int64, int64) bool { return true }); err != nil {
				return err
			}
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case filepath.Ext(path) == ".dat":
			return os.Link(path, target)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
}
