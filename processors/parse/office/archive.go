package office

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// archive is a zip file in memory. archive/zip is not used: it keeps 200 bytes for each entry of 46
// bytes that a server sends, without a limit, and it cannot read a file without its end.
type archive struct {
	body  []byte
	parts map[string]part // by name, in lower case
	// left is how many bytes may still be unpacked.
	left int64
	// cut: the directory at the end is missing, and the parts were found by their own headers.
	cut bool
}

// part is where a file in an archive begins.
type part struct {
	data      []byte // packed; it may be longer than the part
	deflated  bool
	encrypted bool
}

const (
	localHeader     = "PK\x03\x04"
	directoryHeader = "PK\x01\x02"
	directoryEnd    = "PK\x05\x06"

	localBytes     = 30
	directoryBytes = 46
	endBytes       = 22
	// maxParts bounds the files of an archive that count.
	maxParts = 20_000
	// maxNameBytes bounds the name of a part. A longer name is not used.
	maxNameBytes = 1024
)

var (
	errMissing   = errors.New("part is missing")
	errEncrypted = errors.New("part is encrypted")
	errTooCostly = errors.New("more than may be unpacked")
)

func isZip(body []byte) bool { return bytes.HasPrefix(body, []byte(localHeader)) }

// openArchive finds the parts of a zip file, by its directory or else by their own headers.
func openArchive(body []byte, unpacked int64) *archive {
	a := &archive{body: body, parts: map[string]part{}, left: unpacked}
	if !a.directory() {
		a.cut = true
		clear(a.parts)
		a.scan()
	}
	return a
}

// directory reads the directory at the end of the file. It returns false if the directory is
// missing or broken.
func (a *archive) directory() bool {
	tail := a.body[max(len(a.body)-endBytes-1<<16, 0):]
	at := bytes.LastIndex(tail, []byte(directoryEnd))
	if at < 0 || len(tail)-at < endBytes {
		return false
	}
	end := tail[at:]
	endAt := len(a.body) - len(tail) + at
	size, offset := int64(binary.LittleEndian.Uint32(end[12:])), int64(binary.LittleEndian.Uint32(end[16:]))
	if offset == large {
		if endAt, size, offset = a.end64(endAt); endAt < 0 {
			return false
		}
	}
	begin := int64(endAt) - size // as archive/zip does: there may be something in front of the file
	if begin < 0 || begin < offset {
		begin = offset
	}
	shift := begin - offset
	if begin > int64(endAt) {
		return false
	}
	rest := a.body[begin:endAt]
	for range maxParts {
		if len(rest) < directoryBytes || string(rest[:4]) != directoryHeader {
			break
		}
		names := int(binary.LittleEndian.Uint16(rest[28:]))
		whole := directoryBytes + names + int(binary.LittleEndian.Uint16(rest[30:])) + int(binary.LittleEndian.Uint16(rest[32:]))
		if len(rest) < whole {
			break
		}
		packed, offset := sizes(rest[:whole], rest[directoryBytes+names:whole])
		if offset >= 0 && offset < int64(len(a.body)) {
			a.add(rest[directoryBytes:directoryBytes+names], rest[8:], packed, shift+offset)
		}
		rest = rest[whole:]
	}
	return len(a.parts) > 0
}

// Programs that write a file piece by piece use ZIP64 (APPNOTE 4.3.14, 4.3.15, 4.5.3) for files of any size.
const (
	large       = 1<<32 - 1 // stands for a number in a field of ZIP64
	end64Header = "PK\x06\x06"
	end64Bytes  = 56
	locator     = "PK\x06\x07"
	locateBytes = 20
)

// end64 returns where the directory ends, its size and its offset, by the end of ZIP64 in front of the end at a
// place. at is negative if there is no such end.
func (a *archive) end64(endAt int) (at int, size, offset int64) {
	from := endAt - locateBytes
	if from < 0 || string(a.body[from:from+4]) != locator {
		return -1, 0, 0
	}
	at = bytes.LastIndex(a.body[:from], []byte(end64Header)) // there may be something in front of the file
	if at < 0 || from-at < end64Bytes {
		return -1, 0, 0
	}
	size, offset = int64(binary.LittleEndian.Uint64(a.body[at+40:])), int64(binary.LittleEndian.Uint64(a.body[at+48:]))
	if size < 0 || size > int64(at) || offset < 0 || offset > int64(at) {
		return -1, 0, 0
	}
	return at, size, offset
}

// sizes returns the packed size and the offset of an entry of the directory. extra has its other fields, of which
// that of ZIP64 has the numbers that are too large for the entry, in this order: size, packed size, offset.
func sizes(entry, extra []byte) (packed, offset int64) {
	packed, offset = int64(binary.LittleEndian.Uint32(entry[20:])), int64(binary.LittleEndian.Uint32(entry[42:]))
	if packed != large && offset != large {
		return packed, offset
	}
	for len(extra) >= 4 {
		id, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; n > len(extra) {
			break
		}
		if id == 1 {
			numbers := extra[:n]
			next := func(field *int64, known bool) {
				if !known && len(numbers) >= 8 {
					*field = int64(binary.LittleEndian.Uint64(numbers))
					numbers = numbers[8:]
				}
			}
			next(new(int64), binary.LittleEndian.Uint32(entry[24:]) != large)
			next(&packed, packed != large)
			next(&offset, offset != large)
			break
		}
		extra = extra[n:]
	}
	return max(packed, 0), offset
}

// scan finds the parts of a file without a directory.
func (a *archive) scan() {
	at := 0
	for range maxParts {
		next := bytes.Index(a.body[at:], []byte(localHeader))
		if next < 0 || len(a.body)-at-next < localBytes {
			return
		}
		at += next
		head := a.body[at:]
		names, packed := int(binary.LittleEndian.Uint16(head[26:])), int64(binary.LittleEndian.Uint32(head[18:]))
		if len(head) < localBytes+names {
			return
		}
		if packed == 0 { // said behind the part, or never
			packed = int64(len(head))
		}
		a.add(head[localBytes:localBytes+names], head[6:], packed, int64(at))
		at += localBytes
	}
}

// add adds a part. says has its flags and the fields behind them, which are the same in both
// headers.
func (a *archive) add(name, says []byte, packed, offset int64) {
	if len(name) == 0 || len(name) > maxNameBytes || offset+localBytes > int64(len(a.body)) || string(a.body[offset:offset+4]) != localHeader {
		return
	}
	head := a.body[offset:]
	from := localBytes + int64(binary.LittleEndian.Uint16(head[26:])) + int64(binary.LittleEndian.Uint16(head[28:]))
	if from > int64(len(head)) {
		return
	}
	p := part{data: head[from:], encrypted: binary.LittleEndian.Uint16(says)&1 != 0}
	p.data = p.data[:min(packed, int64(len(p.data)))]
	switch binary.LittleEndian.Uint16(says[2:]) {
	case 0:
	case 8:
		p.deflated = true
	default:
		return
	}
	key := partName(string(name))
	if _, known := a.parts[key]; !known {
		a.parts[key] = p
	}
}

// partName is the name by which a part is found.
func partName(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

func (a *archive) has(name string) bool {
	_, ok := a.parts[partName(name)]
	return ok
}

// open unpacks a part, up to the limit of the archive.
func (a *archive) open(name string) (*metered, error) {
	p, ok := a.parts[partName(name)]
	switch {
	case !ok:
		return nil, errMissing
	case p.encrypted:
		return nil, errEncrypted
	case p.deflated:
		return &metered{r: flate.NewReader(bytes.NewReader(p.data)), left: &a.left}, nil
	}
	return &metered{r: bytes.NewReader(p.data), left: &a.left}, nil
}

// whole unpacks a part of at most so many bytes.
func (a *archive) whole(name string, most int64) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, most))
}

// metered reads as long as something is left.
type metered struct {
	r    io.Reader
	left *int64
}

// charge takes what work costs, as bytes, from what is left.
func (m *metered) charge(bytes int) { *m.left -= int64(bytes) }

func (m *metered) Read(p []byte) (int, error) {
	if *m.left <= 0 {
		return 0, errTooCostly
	}
	n, err := m.r.Read(p[:min(int64(len(p)), *m.left)])
	*m.left -= int64(n)
	return n, err
}
