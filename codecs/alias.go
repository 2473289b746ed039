package codecs

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Numbers of fields that are most of their record.
const (
	fetchedBody      protowire.Number = 8
	fetchedCodedBody protowire.Number = 16
	eventBody        protowire.Number = 4
)

// UnmarshalFetched is proto.Unmarshal, but f.Body and f.CodedBody are parts of raw instead of copies.
func UnmarshalFetched(raw []byte, f *weftpb.Fetched) error {
	return unmarshalAlias(raw, f, func(field protowire.Number) *[]byte {
		switch field {
		case fetchedBody:
			return &f.Body
		case fetchedCodedBody:
			return &f.CodedBody
		}
		return nil
	})
}

// CutFetched returns a record of fetched in front of its body, and the body, without decoding anything.
// If the record has no body, or is damaged, it is all in front.
func CutFetched(raw []byte) (front, body []byte) {
	start, end, ok := only(raw, fetchedBody)
	if !ok {
		return raw, nil
	}
	return raw[:start], bytesOf(raw[start:end])
}

// UnmarshalEvent is proto.Unmarshal, but ev.Body is a part of raw instead of a copy.
func UnmarshalEvent(raw []byte, ev *weftpb.Event) error {
	return unmarshalAlias(raw, ev, func(field protowire.Number) *[]byte {
		if field == eventBody {
			return &ev.Body
		}
		return nil
	})
}

// unmarshalAlias decodes raw into m. Values of type bytes that have a place become parts of raw.
// What stands between them is decoded part by part: two messages in a row are one message with the
// fields of both.
func unmarshalAlias(raw []byte, m proto.Message, place func(field protowire.Number) *[]byte) error {
	proto.Reset(m)
	merge := proto.UnmarshalOptions{Merge: true}
	begin := 0
	for at := 0; at < len(raw); {
		field, kind, n := consumeField(raw[at:])
		if n < 0 {
			return protowire.ParseError(n)
		}
		if value := place(field); value != nil && kind == protowire.BytesType {
			if err := merge.Unmarshal(raw[begin:at], m); err != nil {
				return err
			}
			begin = at + n
			text := bytesOf(raw[at:begin])
			*value = text[:len(text):len(text)] // what is appended to it does not change raw
		}
		at += n
	}
	return merge.Unmarshal(raw[begin:], m)
}

// bytesOf returns the value of an encoded field of type bytes.
func bytesOf(field []byte) []byte {
	_, _, n := protowire.ConsumeTag(field)
	text, _ := protowire.ConsumeBytes(field[n:])
	return text
}

// only returns the place of the one field of that number and of type bytes in an encoded
// message. It reports false if there is no such field, if there are several, or if the message
// is damaged.
func only(raw []byte, field protowire.Number) (start, end int, found bool) {
	for at := 0; at < len(raw); {
		number, kind, n := consumeField(raw[at:])
		if n < 0 || number == field && (found || kind != protowire.BytesType) {
			return 0, 0, false
		}
		if number == field {
			start, end, found = at, at+n, true
		}
		at += n
	}
	return start, end, found
}

// consumeField returns the number, the type and the length of the first field, with its tag. The
// length is negative if the field is damaged.
func consumeField(raw []byte) (protowire.Number, protowire.Type, int) {
	number, kind, n := protowire.ConsumeTag(raw)
	if n < 0 {
		return 0, 0, n
	}
	m := protowire.ConsumeFieldValue(number, kind, raw[n:])
	if m < 0 {
		return 0, 0, m
	}
	return number, kind, n + m
}
