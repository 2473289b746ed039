package codecs

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// RejectedValueBytes and RejectedKeyBytes are how much of a rejected record is kept.
// Of the records that the loop writes only the largest pages are longer. A record that
// is not kept whole cannot be tried again.
const (
	RejectedValueBytes = 15 << 20
	RejectedKeyBytes   = 64 << 10
)

// EncodeRejected returns the value of the record of the topic rejected that describes
// a record that a stage could not use. It never fails, even if that record is random
// bytes. r is not changed.
func EncodeRejected(r *weftpb.Rejected) []byte {
	cut := &weftpb.Rejected{
		Stage: strings.ToValidUTF8(r.Stage, "\ufffd"), Topic: strings.ToValidUTF8(r.Topic, "\ufffd"),
		Partition: r.Partition, Offset: r.Offset,
		Reason: strings.ToValidUTF8(r.Reason, "\ufffd"),
		Key:    r.Key[:min(len(r.Key), RejectedKeyBytes)], Value: r.Value[:min(len(r.Value), RejectedValueBytes)],
		AtMs: r.AtMs, ValueBytes: int64(len(r.Value)),
	}
	value, err := proto.Marshal(cut)
	if err != nil {
		panic("codecs: encode rejected record: " + err.Error()) // strings are valid, bytes may be anything
	}
	return value
}

// DecodeRejected is the inverse of EncodeRejected.
func DecodeRejected(value []byte) (*weftpb.Rejected, error) {
	r := new(weftpb.Rejected)
	if err := proto.Unmarshal(value, r); err != nil {
		return nil, fmt.Errorf("decode rejected record: %w", err)
	}
	return r, nil
}

// Whole tells whether a rejected record has the whole value of the record that it
// describes.
func Whole(r *weftpb.Rejected) bool { return r.ValueBytes == int64(len(r.Value)) }
