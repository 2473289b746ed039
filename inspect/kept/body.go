package kept

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// mostBytes bounds a decoded body: a small one may become any size.
const mostBytes = 256 << 20

// Header returns the fields of the response.
func (x Exchange) Header() (http.Header, error) {
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(x.Head)), nil)
	if err != nil {
		return nil, fmt.Errorf("read the head of %s: %w", x.URL, err)
	}
	_ = response.Body.Close() // which is in Payload
	return response.Header, nil
}

// Body returns the body without its content codings.
func (x Exchange) Body() ([]byte, error) {
	header, err := x.Header()
	if err != nil || len(x.Payload) == 0 {
		return nil, err
	}
	var body io.Reader = bytes.NewReader(x.Payload)
	codings := strings.Split(strings.ToLower(strings.Join(header["Content-Encoding"], ",")), ",")
	for _, coding := range slices.Backward(codings) {
		switch strings.TrimSpace(coding) {
		case "gzip", "x-gzip":
			body, err = gzip.NewReader(body)
		case "deflate":
			body, err = zlib.NewReader(body)
		case "br":
			body = brotli.NewReader(body)
		case "zstd":
			var d *zstd.Decoder
			if d, err = zstd.NewReader(body, zstd.WithDecoderConcurrency(1)); err == nil {
				defer d.Close()
				body = d
			}
		}
		if err != nil {
			return nil, fmt.Errorf("decode the body of %s: %w", x.URL, err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(body, mostBytes))
	if err != nil && len(text) > 0 && errors.Is(err, gzip.ErrHeader) {
		err = nil // bytes behind the last member
	}
	if err != nil {
		return nil, fmt.Errorf("decode the body of %s: %w", x.URL, err)
	}
	return text, nil
}
