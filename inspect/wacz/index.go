package wacz

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/internal/blob"
)

const (
	indexFile = "index.cdx.gz"
	// blockLines is the number of lines of a gzip member. A reader reads one member for a URL.
	blockLines = 1000
)

// index adds the merged index in blocks (ZipNum,
// https://pywb.readthedocs.io/en/latest/manual/indexing.html#zipnum-cluster-format), and the
// places of the blocks.
func (w *writer) index(ctx context.Context, merged kept.Merged) error {
	places := bytes.NewBufferString(fmt.Sprintf("!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": %q}\n", indexFile))
	err := w.add("indexes/"+indexFile, zip.Store, func(out io.Writer) error {
		reader := blob.Reader(ctx, w.bucket, merged.Index)
		defer reader.Close()
		return blocks(reader, out, places)
	})
	if err != nil {
		return err
	}
	return w.add("indexes/index.idx", zip.Deflate, func(out io.Writer) error {
		_, err := places.WriteTo(out)
		return err
	})
}

// place is where a block is.
type place struct {
	Offset int64  `json:"offset"`
	Length int    `json:"length"`
	Digest string `json:"digest"`
	File   string `json:"filename"`
}

// blocks copies a sorted index in blocks, and writes a line for each block to places.
func blocks(index io.Reader, out, places io.Writer) error {
	in, at := bufio.NewReaderSize(index, 64<<10), int64(0)
	var block bytes.Buffer
	pack := gzip.NewWriter(nil)
	for {
		block.Reset()
		pack.Reset(&block)
		first, err := copyLines(pack, in)
		if err != nil {
			return err
		}
		if first == nil {
			return nil
		}
		sum := sha256.New()
		_, _ = sum.Write(block.Bytes())
		text, err := json.Marshal(place{at, block.Len(), sumOf(sum), indexFile})
		if err != nil {
			return fmt.Errorf("describe a block: %w", err)
		}
		if _, err := fmt.Fprintf(places, "%s%s\n", first, text); err != nil {
			return err
		}
		n, err := block.WriteTo(out)
		if at += n; err != nil {
			return err
		}
	}
}

// copyLines copies up to blockLines lines, and ends the member. first is the key and the time of the first
// line, up to its JSON; nil: there was no line.
func copyLines(pack *gzip.Writer, in *bufio.Reader) (first []byte, err error) {
	for range blockLines {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(line) == 0 {
			break
		}
		if first == nil {
			first = keyAndTime(line)
		}
		if _, err := pack.Write(line); err != nil {
			return nil, err
		}
	}
	return first, pack.Close()
}

// keyAndTime are the first two fields of a line, with the space behind each. A key may have a brace.
func keyAndTime(line []byte) []byte {
	_, afterKey, _ := bytes.Cut(line, []byte(" "))
	_, rest, _ := bytes.Cut(afterKey, []byte(" "))
	return line[:len(line)-len(rest)]
}
