package verify

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
)

// scratch is a map from fingerprints to entries in a temporary file, so that what
// it takes of memory does not grow with the crawl.
//
// The file is an array of sheets, of which there are a power of two. A fingerprint
// is in the sheet whose number is the first bits of its hash; the hash has a seed,
// so that nobody can choose URLs that meet in one sheet. When a sheet is full, the
// file is written anew with twice as many sheets: sheet n becomes 2n and 2n+1. Some
// sheets are in memory, and those that changed are written when their place is
// needed. A sheet that was never written is a hole in the file: all zero, empty.
//
// Methods return nothing of use once err is set.
type scratch struct {
	dir  string
	file *os.File
	seed maphash.Seed
	bits uint // the file has 1<<bits sheets
	err  error
	// frames are the sheets in memory, where says which; hand is where the search
	// for a frame to free goes on.
	frames []frame
	where  map[uint64]int
	hand   int
}

// sheet is a count of slots, and the slots; each is a fingerprint and an entry.
type sheet [sheetBytes]byte

const (
	sheetBytes = 4096
	slotBytes  = 16 + entryBytes
	sheetSlots = (sheetBytes - 2) / slotBytes
)

type frame struct {
	number      uint64
	used, dirty bool // used since the hand passed
	sheet       sheet
}

// maxFrames of 4 KiB are kept in memory: 32 MiB, room for some 400,000 URLs.
const maxFrames = 8 << 10

// openScratch makes an empty map in a temporary directory. Close it.
func openScratch() (*scratch, error) {
	dir, err := os.MkdirTemp("", "weft-verify-*")
	if err != nil {
		return nil, fmt.Errorf("make a scratch directory: %w", err)
	}
	file, err := os.Create(filepath.Join(dir, "urls"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a scratch file: %w", err), os.RemoveAll(dir))
	}
	return &scratch{dir: dir, file: file, seed: maphash.MakeSeed(), frames: make([]frame, 0, maxFrames), where: map[uint64]int{}}, nil
}

// close removes the map. It returns the first error of its life.
func (s *scratch) close() error {
	return errors.Join(s.err, s.file.Close(), os.RemoveAll(s.dir))
}

func (s *scratch) fail(err error) {
	if s.err == nil && err != nil {
		s.err = fmt.Errorf("scratch file: %w", err)
	}
}

// find returns what is known of a URL, the zero entry for nothing.
func (s *scratch) find(print fingerprint) entry {
	p := &s.frame(s.number(print)).sheet
	if slot := p.slot(print); slot != nil {
		return decodeEntry(slot[16:])
	}
	return entry{}
}

// put notes what is known of a URL.
func (s *scratch) put(print fingerprint, e entry) {
	for s.err == nil {
		f := s.frame(s.number(print))
		slot := f.sheet.slot(print)
		if slot == nil {
			slot = f.sheet.add(print)
		}
		if slot != nil {
			e.encode(slot[16:])
			f.dirty = true
			return
		}
		s.grow()
	}
}

// each calls visit with all that is known, in no order.
func (s *scratch) each(visit func(fingerprint, entry)) {
	s.flush()
	in := s.reader()
	var p sheet
	for range uint64(1) << s.bits {
		if _, err := io.ReadFull(in, p[:]); err != nil {
			s.fail(err)
			return
		}
		for n := range p.count() {
			slot := p.at(n)
			visit(fingerprint(slot[:16]), decodeEntry(slot[16:]))
		}
	}
}

func (s *scratch) number(print fingerprint) uint64 {
	return s.hash(print) >> (64 - s.bits) // by 64: 0
}

func (s *scratch) hash(print fingerprint) uint64 { return maphash.Bytes(s.seed, print[:]) }

// frame returns a sheet in memory.
func (s *scratch) frame(number uint64) *frame {
	if at, ok := s.where[number]; ok {
		f := &s.frames[at]
		f.used = true
		return f
	}
	at := s.free()
	f := &s.frames[at]
	f.number, f.used, f.dirty = number, true, false
	n, err := s.file.ReadAt(f.sheet[:], int64(number)*sheetBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		s.fail(err)
	}
	clear(f.sheet[n:]) // beyond the file's end
	s.where[number] = at
	return f
}

// free returns the place of a frame that may be used: by the clock algorithm one
// that was not used for a while.
func (s *scratch) free() int {
	if len(s.frames) < maxFrames {
		s.frames = append(s.frames, frame{})
		return len(s.frames) - 1
	}
	for s.frames[s.hand].used {
		s.frames[s.hand].used = false
		s.hand = (s.hand + 1) % len(s.frames)
	}
	at := s.hand
	s.hand = (s.hand + 1) % len(s.frames)
	s.write(&s.frames[at])
	delete(s.where, s.frames[at].number)
	return at
}

func (s *scratch) write(f *frame) {
	if f.dirty {
		_, err := s.file.WriteAt(f.sheet[:], int64(f.number)*sheetBytes)
		s.fail(err)
		f.dirty = false
	}
}

// flush has the file know all sheets in memory, and be as long as it should be.
func (s *scratch) flush() {
	for i := range s.frames {
		s.write(&s.frames[i])
	}
	s.fail(s.file.Truncate(sheetBytes << s.bits))
}

func (s *scratch) reader() io.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(s.file, 0, sheetBytes<<s.bits), 1<<18)
}

// grow writes the file anew with twice as many sheets.
func (s *scratch) grow() {
	s.flush()
	twice, err := os.Create(filepath.Join(s.dir, "growing"))
	if err != nil {
		s.fail(err)
		return
	}
	in, out := s.reader(), bufio.NewWriterSize(twice, 1<<18)
	var whole sheet
	for range uint64(1) << s.bits {
		if _, err := io.ReadFull(in, whole[:]); err != nil {
			s.fail(err)
			break
		}
		var halves [2]sheet
		for n := range whole.count() {
			slot := whole.at(n)
			half := &halves[s.hash(fingerprint(slot[:16]))>>(63-s.bits)&1]
			copy(half.add(fingerprint(slot[:16])), slot)
		}
		for i := range halves {
			_, err := out.Write(halves[i][:])
			s.fail(err)
		}
	}
	s.fail(out.Flush())
	s.fail(s.file.Close())
	s.fail(os.Rename(twice.Name(), filepath.Join(s.dir, "urls")))
	s.file = twice
	s.bits++
	s.frames, s.hand = s.frames[:0], 0
	clear(s.where)
}

func (p *sheet) count() int { return int(binary.BigEndian.Uint16(p[:])) }

func (p *sheet) at(n int) []byte { return p[2+n*slotBytes:][:slotBytes] }

// slot is that of a fingerprint, nil when it is not in the sheet.
func (p *sheet) slot(print fingerprint) []byte {
	first := binary.LittleEndian.Uint64(print[:])
	for n := range p.count() {
		if slot := p.at(n); binary.LittleEndian.Uint64(slot) == first && bytes.Equal(slot[:16], print[:]) {
			return slot
		}
	}
	return nil
}

// add makes a slot for a fingerprint that is not in the sheet, nil if it is full.
func (p *sheet) add(print fingerprint) []byte {
	n := p.count()
	if n == sheetSlots {
		return nil
	}
	binary.BigEndian.PutUint16(p[:], uint16(n+1))
	slot := p.at(n)
	copy(slot, print[:])
	return slot
}
