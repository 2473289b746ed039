package kv

import (
	"encoding/binary"
	"errors"
)

// ErrValue means that a value of the store cannot be read.
var ErrValue = errors.New("value is damaged")

// Fields writes the fields of a value, or reads them in the same order. So a type says
// in one method what its values consist of. Values have neither field numbers nor
// versions: one package reads and writes them, and a store of another format is rebuilt
// from the ledger. There are several for every URL, so nothing here uses reflection.
//
// Numbers are varints, unless the method says otherwise. A field that is not there is
// read as zero, and Decode then reports the damage.
type Fields struct {
	bytes   []byte // written so far, or not read yet
	reading bool
	bad     bool
}

// Encode returns the value of the fields that each names. It has about size bytes.
func Encode(size int, each func(*Fields)) []byte {
	f := Fields{bytes: make([]byte, 0, size)}
	each(&f)
	return f.bytes
}

// Decode reads a value into the fields that each names. It returns ErrValue if the value
// does not consist of exactly these.
func Decode(value []byte, each func(*Fields)) error {
	f := Fields{bytes: value, reading: true}
	each(&f)
	if f.bad || len(f.bytes) > 0 {
		return ErrValue
	}
	return nil
}

// Require marks the value as damaged unless ok.
func (f *Fields) Require(ok bool) {
	if !ok {
		f.bytes, f.bad = nil, true
	}
}

// More tells whether the value that is being read has more fields.
func (f *Fields) More() bool { return f.reading && len(f.bytes) > 0 }

// read takes size bytes off the value; size is not positive if they are not there.
func (f *Fields) read(size int) {
	if f.Require(size > 0); size > 0 {
		f.bytes = f.bytes[size:]
	}
}

// Uint is an unsigned number.
func (f *Fields) Uint(n *uint64) {
	if !f.reading {
		f.bytes = binary.AppendUvarint(f.bytes, *n)
		return
	}
	var size int
	*n, size = binary.Uvarint(f.bytes)
	f.read(size)
}

// Int is a signed number.
func (f *Fields) Int(n *int64) {
	if !f.reading {
		f.bytes = binary.AppendVarint(f.bytes, *n)
		return
	}
	var size int
	*n, size = binary.Varint(f.bytes)
	f.read(size)
}

// Uint32 is an unsigned number of at most 32 bits.
func (f *Fields) Uint32(n *uint32) {
	wide := uint64(*n)
	f.Uint(&wide)
	*n = uint32(wide)
	f.Require(wide == uint64(*n))
}

// Bools is a number with a bit for each flag, the first one lowest.
func (f *Fields) Bools(flags ...*bool) {
	var bits uint64
	for i, flag := range flags {
		if *flag {
			bits |= 1 << i
		}
	}
	f.Uint(&bits)
	f.Require(bits < 1<<len(flags))
	for i, flag := range flags {
		*flag = bits&(1<<i) != 0
	}
}

// String is a string with its length in front.
func (f *Fields) String(s *string) {
	n := uint64(len(*s))
	f.Uint(&n)
	if !f.reading {
		f.bytes = append(f.bytes, *s...)
		return
	}
	f.Require(n <= uint64(len(f.bytes)))
	n = min(n, uint64(len(f.bytes)))
	*s, f.bytes = string(f.bytes[:n]), f.bytes[n:]
}

// Byte is a number of one byte.
func (f *Fields) Byte(n *uint8) {
	if !f.reading {
		f.bytes = append(f.bytes, *n)
		return
	}
	if f.Require(len(f.bytes) > 0); !f.bad {
		*n = f.bytes[0]
		f.bytes = f.bytes[1:]
	}
}

// Uint64 is a number of eight bytes, big-endian.
func (f *Fields) Uint64(n *uint64) {
	if !f.reading {
		f.bytes = binary.BigEndian.AppendUint64(f.bytes, *n)
		return
	}
	if f.Require(len(f.bytes) >= 8); !f.bad {
		*n = binary.BigEndian.Uint64(f.bytes)
		f.bytes = f.bytes[8:]
	}
}

// List is a list with its length in front. A list with more than most elements is
// damaged.
func List[T any](f *Fields, list *[]T, most int, each func(*T)) {
	n := uint64(len(*list))
	f.Uint(&n)
	f.Require(n <= uint64(most))
	Elements(f, list, n, each)
}

// Elements is a list of n elements, each with its own fields. The length is elsewhere.
func Elements[T any](f *Fields, list *[]T, n uint64, each func(*T)) {
	if f.reading && n > 0 {
		if f.Require(n <= uint64(len(f.bytes))); f.bad {
			return
		}
		*list = make([]T, n)
	}
	for i := range *list {
		each(&(*list)[i])
	}
}

// Rest is a list up to the end of the value.
func Rest[T any](f *Fields, list *[]T, each func(*T)) {
	for f.More() {
		var element T
		if each(&element); !f.bad {
			*list = append(*list, element)
		}
	}
	if !f.reading {
		for i := range *list {
			each(&(*list)[i])
		}
	}
}
