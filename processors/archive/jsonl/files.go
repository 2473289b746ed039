package jsonl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// numbered matches files of a directory. The number has six digits or more.
var numbered = regexp.MustCompile(`^pages-(\d{6,})\.jsonl(\.gz|\.zst)?$`)

func (p *Pages) name() string {
	if p.options.File != "" {
		return p.options.File
	}
	return filepath.Join(p.options.Dir, fmt.Sprintf("pages-%06d.jsonl%s", p.state.File, extensions[p.state.Compression]))
}

// openFiles cuts the current file at its recorded length, deletes the numbered files
// after it, and opens it for writing.
func (p *Pages) openFiles(known bool) error {
	switch {
	case p.options.Stream != nil:
		p.count.w = p.options.Stream
		return nil
	case p.options.Dir != "":
		if err := p.deleteLater(known); err != nil {
			return err
		}
		if p.state.File == 0 {
			return nil
		}
	}
	if p.options.File != "" && !known {
		// The user decides what becomes of a file without a state.
		if info, err := os.Stat(p.name()); err == nil && info.Size() > 0 {
			return fmt.Errorf("%w: %s is not empty and %s is missing", ErrNoState, p.name(), p.options.StateFile)
		}
	}
	if err := p.reopen(); err != nil {
		return err
	}
	// A file has one compression.
	if p.state.Compression != p.options.Compression {
		return p.changeCompression()
	}
	if p.options.Dir != "" && p.state.Length >= p.options.MaxBytes {
		return p.leave()
	}
	return nil
}

func (p *Pages) changeCompression() error {
	if p.options.File != "" && p.state.Length > 0 {
		return fmt.Errorf("output: %s is compressed with %s, not %s", p.name(), p.state.Compression, p.options.Compression)
	}
	p.state.Compression = p.options.Compression
	if p.options.File != "" {
		return nil
	}
	if err := p.leave(); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	p.state.File++
	p.state.Length = 0
	return p.reopen()
}

// deleteLater removes the numbered files after the current one, which were never
// recorded.
func (p *Pages) deleteLater(known bool) error {
	entries, err := os.ReadDir(p.options.Dir)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	for _, e := range entries {
		m := numbered.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n <= p.state.File {
			continue
		}
		if !known {
			return fmt.Errorf("%w: %s holds %s, and %s is missing", ErrNoState, p.options.Dir, e.Name(), p.options.StateFile)
		}
		if err := os.Remove(filepath.Join(p.options.Dir, e.Name())); err != nil {
			return fmt.Errorf("output: %w", err)
		}
	}
	return nil
}

func (p *Pages) reopen() error {
	flags := os.O_RDWR
	if p.state.Length == 0 {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(p.name(), flags, 0o644)
	if errors.Is(err, fs.ErrNotExist) && p.state.Length > 0 {
		return fmt.Errorf("%w: %s is missing, %d bytes are recorded", ErrDamaged, p.name(), p.state.Length)
	}
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	p.file = f
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("output: %s is not a regular file: write to it as a stream", p.name())
	}
	if info.Size() < p.state.Length {
		return fmt.Errorf("%w: %s has %d bytes, %d are recorded", ErrDamaged, p.name(), info.Size(), p.state.Length)
	}
	if err := f.Truncate(p.state.Length); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if _, err := f.Seek(p.state.Length, io.SeekStart); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	p.count.w, p.count.n = f, p.state.Length
	return nil
}

// create begins the next file of the directory. The next Flush records it; before that,
// deleteLater would remove it.
func (p *Pages) create() error {
	p.state.File++
	p.state.Length = 0
	f, err := os.OpenFile(p.name(), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	p.file = f
	p.count.w, p.count.n = f, 0
	p.out.reset(p.count)
	if p.options.Sync {
		return syncDir(p.options.Dir)
	}
	return nil
}

func (p *Pages) rotate() error {
	if err := p.Flush(); err != nil {
		return err
	}
	if err := p.leave(); err != nil {
		return p.fail(err)
	}
	return nil
}

// leave closes the current file. The next Append creates another one.
func (p *Pages) leave() error {
	err := p.file.Close()
	p.file = nil
	return err
}
