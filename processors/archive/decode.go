package archive

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// The bodies in Fetched.
const (
	bodyField  = 8
	codedField = 16
)

// decode reads a record of fetched. Its bodies are not copied: they share the memory of value.
// What stands between them is decoded part by part: two messages in a row are one message with the
// fields of both.
func decode(value []byte) (*weftpb.Fetched, error) {
	x := new(weftpb.Fetched)
	merge := proto.UnmarshalOptions{Merge: true}
	begin := 0
	for at := 0; at < len(value); {
		field, kind, tag := protowire.ConsumeTag(value[at:])
		if tag < 0 {
			return nil, protowire.ParseError(tag)
		}
		size := protowire.ConsumeFieldValue(field, kind, value[at+tag:])
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		end := at + tag + size
		if body := bodyOf(x, field); body != nil && kind == protowire.BytesType {
			if err := merge.Unmarshal(value[begin:at], x); err != nil {
				return nil, err
			}
			*body, _ = protowire.ConsumeBytes(value[at+tag : end])
			begin = end
		}
		at = end
	}
	return x, merge.Unmarshal(value[begin:], x)
}

// bodyOf is where a field has its body; nil: it is another field.
func bodyOf(x *weftpb.Fetched, field protowire.Number) *[]byte {
	switch field {
	case bodyField:
		return &x.Body
	case codedField:
		return &x.CodedBody
	}
	return nil
}
