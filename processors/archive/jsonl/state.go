package jsonl

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// Errors of Open, besides errors of the file system.
var (
	// ErrDamaged: the sidecar or the file it names is not what was written.
	ErrDamaged = errors.New("output: damaged")
	// ErrNoState: numbered files exist without the sidecar that says what is in them.
	ErrNoState = errors.New("output: files without their state")
	// ErrOtherTopic: the files hold records of another topic.
	ErrOtherTopic = errors.New("output: files of another topic")
)

type state struct {
	Version int    `json:"version"`
	Topic   string `json:"topic,omitempty"`
	// File is the number of the current file in a directory, from 1. It is 0 before the
	// first file, and always with a single file or a stream.
	File int `json:"file"`
	// Length is the recorded length of the current file.
	Length int64 `json:"length"`
	// Compression of the current file.
	Compression Compression `json:"compression"`
	// Next is the next offset of each partition.
	Next map[int32]int64 `json:"next"`
	// Sum is the CRC-32 (IEEE) of this object with Sum 0.
	Sum uint32 `json:"sum"`
}

const stateVersion = 1

func (s state) checksum() (uint32, error) {
	s.Sum = 0
	b, err := json.Marshal(s) // map keys are sorted
	return crc32.ChecksumIEEE(b), err
}

// readState reads a sidecar. ok is false when the file does not exist.
func readState(name string) (s state, ok bool, err error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("read state of the output: %w", err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, false, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	sum, err := s.checksum()
	if err != nil || sum != s.Sum {
		return s, false, fmt.Errorf("%w: %s: checksum %08x does not match", ErrDamaged, name, s.Sum)
	}
	if s.Version != stateVersion {
		return s, false, fmt.Errorf("%w: %s: version %d, want %d", ErrDamaged, name, s.Version, stateVersion)
	}
	return s, true, nil
}

// write replaces the sidecar as a whole.
func (s state) write(name string, sync bool) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write state of the output: %w", err)
		}
	}()
	if s.Sum, err = s.checksum(); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	next := name + ".next"
	f, err := os.Create(next)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, name); err != nil {
		return err
	}
	if sync {
		return syncDir(filepath.Dir(name))
	}
	return nil
}

// syncDir makes new and renamed entries of a directory durable.
func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
