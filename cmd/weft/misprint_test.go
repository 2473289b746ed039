package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"

	"google.golang.org/protobuf/encoding/protowire"
)

// turnEvent is a command of the test scripts: misprint FILE turns a bit of an event
// in the middle of a segment of a ledger, and leaves a copy of it in damaged.dat.
// The batch around the event is sound.
func turnEvent() {
	raw, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = misprint(raw)
	}
	if err == nil {
		err = errors.Join(os.WriteFile(os.Args[1], raw, 0o644), os.WriteFile("damaged.dat", raw, 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// misprint changes the checksum of an event in a segment of uncompressed batches, as an embedded
// broker has them, and then the checksum of its batch.
func misprint(segment []byte) error {
	const length, crc, attributes = 8, 17, 21 // where they stand in a batch
	sum := protowire.AppendTag(nil, 262143, protowire.Fixed32Type)
	for at := 0; at+attributes < len(segment); {
		batch := segment[at:][:12+binary.BigEndian.Uint32(segment[at+length:])]
		at += len(batch)
		if i := bytes.Index(batch, sum); i >= 0 && at > len(segment)/2 {
			batch[i+len(sum)] ^= 1
			binary.BigEndian.PutUint32(batch[crc:], crc32.Checksum(batch[attributes:], crc32.MakeTable(crc32.Castagnoli)))
			return nil
		}
	}
	return errors.New("no event in the second half has a checksum")
}
