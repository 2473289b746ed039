package codecs

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// RejectedValueBytes is how much of a refused record's value is kept, and of
// its key: a page of 10 MiB says no more about what was wrong with it, and the
// record has to fit into the topic rejected.
const RejectedValueBytes = 512 << 10

// EncodeRejected returns the record of the topic rejected that describes a
// record a stage could not use. It never fails: what such a record holds may be
// anything. r is not changed.
func EncodeRejected(r *weftpb.Rejected) []byte {
	cut := &weftpb.Rejected{
		Stage: strings.ToValidUTF8(r.Stage, "\ufffd"), Topic: strings.ToValidUTF8(r.Topic, "\ufffd"),
		Partition: r.Partition, Offset: r.Offset,
		Reason: strings.ToValidUTF8(r.Reason, "\ufffd"),
		Key:    r.Key[:min(len(r.Key), RejectedValueBytes/4)], Value: r.Value[:min(len(r.Value), RejectedValueBytes)],
		AtMs: r.AtMs,
	}
	value, err := proto.Marshal(cut)
	if err != nil {
		panic("codecs: encode rejected record: " + err.Error()) // strings are valid, bytes may be anything
	}
	return value
}
