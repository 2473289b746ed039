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
func decode(value []byte) (*weftpb.Fetched, error) {
	var bodies [2][]byte
	rest := make([]byte, 0, 2<<10)
	for len(value) > 0 {
		field, kind, tag := protowire.ConsumeTag(value)
		if tag < 0 {
			return nil, protowire.ParseError(tag)
		}
		size := protowire.ConsumeFieldValue(field, kind, value[tag:])
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		switch text, _ := protowire.ConsumeBytes(value[tag:]); {
		case field == bodyField && kind == protowire.BytesType:
			bodies[0] = text
		case field == codedField && kind == protowire.BytesType:
			bodies[1] = text
		default:
			rest = append(rest, value[:tag+size]...)
		}
		value = value[tag+size:]
	}
	x := new(weftpb.Fetched)
	if err := proto.Unmarshal(rest, x); err != nil {
		return nil, err
	}
	x.Body, x.CodedBody = bodies[0], bodies[1]
	return x, nil
}
