package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Record is a record that was read.
type Record struct {
	fields []Field
	// HeaderBytes is the length of what is before the block.
	HeaderBytes int
	// Block is the whole block.
	Block []byte
}

// ErrRecord means that a member is not one record of WARC 1.1.
var ErrRecord = errors.New("this is not a record of WARC 1.1")

// ReadMember reads the record at the beginning of member, which is a member of a file.
func ReadMember(member []byte) (r Record, err error) {
	u := unpacker{limit: largestText}
	defer u.close()
	text, err := u.unpack(bufio.NewReader(bytes.NewReader(member)), member)
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return recordIn(text)
}

// InfoBytes is as much of a file as ReadInfo needs: a definition has at most 384 KiB of rules,
// whose quotes and line breaks are escaped.
const InfoBytes = 1 << 20

// ReadInfo returns the fields of warcinfo at the beginning of a file, such as weft-definition.
// begin has the first InfoBytes of the file.
func ReadInfo(begin []byte) (info map[string]string, err error) {
	r, err := ReadMember(begin) // the members behind the first one may be cut
	if err != nil {
		return nil, err
	}
	if r.Field("WARC-Type") != "warcinfo" {
		return nil, fmt.Errorf("%w: the file does not begin with warcinfo", ErrRecord)
	}
	info = map[string]string{}
	for line := range strings.SplitSeq(string(r.Block), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			info[name] = value
		}
	}
	return info, nil
}

// recordIn is the record of a text. If its block is not there whole, it has only its fields.
func recordIn(text []byte) (r Record, err error) {
	head, block, ok := bytes.Cut(text, []byte("\r\n\r\n"))
	if !ok || !bytes.HasPrefix(head, []byte("WARC/1.1\r\n")) {
		return Record{}, ErrRecord
	}
	r.HeaderBytes = len(head) + len("\r\n\r\n")
	r.fields = fieldsIn(string(head))
	size, err := strconv.Atoi(r.Field("Content-Length"))
	if err != nil || size < 0 || size > len(block) {
		return r, fmt.Errorf("%w: its length is %q", ErrRecord, r.Field("Content-Length"))
	}
	r.Block = block[:size]
	return r, nil
}

// fieldsIn are the fields of a header. Blanks around a value do not count, and a line that begins with a
// blank continues the value before it (ISO 28500:2017 section 4).
func fieldsIn(head string) (fields []Field) {
	for line := range strings.SplitSeq(head, "\r\n") {
		if folded := strings.TrimLeft(line, " \t"); folded != line {
			if len(fields) > 0 {
				last := &fields[len(fields)-1]
				last.Value = strings.Trim(last.Value+" "+folded, " \t")
			}
			continue
		}
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields = append(fields, Field{strings.TrimRight(name, " \t"), strings.Trim(value, " \t")})
		}
	}
	return fields
}

// Fields are those of the record, in its order.
func (r Record) Fields() []Field { return r.fields }

// Field returns the value of a field; empty if there is none.
func (r Record) Field(name string) string {
	for _, f := range r.fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Date is when the request began.
func (r Record) Date() (time.Time, error) {
	date, err := time.Parse(time.RFC3339, r.Field("WARC-Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: its date is %q", ErrRecord, r.Field("WARC-Date"))
	}
	return date, nil
}

// Message divides a block that is an HTTP message.
func (r Record) Message() (head, payload []byte) {
	end := len(r.Block)
	for _, empty := range []string{"\r\n\r\n", "\n\n"} {
		if i := bytes.Index(r.Block, []byte(empty)); i >= 0 {
			end = min(end, i+len(empty))
		}
	}
	return r.Block[:end], r.Block[end:]
}
