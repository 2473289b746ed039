package jsonl

import (
	"errors"
	"fmt"
)

// Seal ends the current file of a directory: the next Open begins another one. Then all files may be
// changed, because the sidecar does not have their lengths. No process may have the directory open.
func Seal(dir string) (err error) {
	o := Options{Dir: dir, Sync: true}.withDefaults()
	s, known, err := readState(o.StateFile)
	if err != nil || !known || s.Length == 0 {
		return err
	}
	o.Compression = s.Compression
	p, err := Open(o) // which cuts what is not recorded
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	p.state.File++
	p.state.Length = 0
	if err := p.record(); err != nil {
		return fmt.Errorf("output: begin another file: %w", err)
	}
	return nil
}
