package transfer

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/metrics"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A file of an export holds records to its end, or is named as none of an
// export, and takes no more memory than what is there. Packed, what is fuzzed is
// the frame of compression, and otherwise what is within.
func FuzzSegment(f *testing.F) {
	f.Add([]byte{0}, false)
	f.Add([]byte{2, 10, 0}, false)
	f.Add([]byte{5, 1}, false)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, false)
	f.Add([]byte{0x80, 0x80, 0x80, 0x88, 1, 10}, false) // 272 MiB that are not there
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x00, 0x09, 0x00, 0x00, 0x00}, true)
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x98, 0x02, 0x00, 0x00, 0x02, 0x00, 0x00}, true) // a window of 512 MiB
	name := filepath.Join(f.TempDir(), "segment.zst")
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, packed bool) {
		if !packed {
			body = encoder.EncodeAll(body, nil)
		}
		if err := os.WriteFile(name, body, 0o600); err != nil {
			t.Fatal(err)
		}
		before := allocated()
		in, err := openSegment(name)
		if err != nil {
			t.Fatal(err)
		}
		defer in.close()
		defer func() {
			if took, there := allocated()-before, unpacked(body); took > 8<<20+256*there {
				t.Errorf("%d bytes took %d", there, took)
			}
		}()
		for range 1000 {
			if _, err := in.next(); err != nil {
				if errors.Is(err, io.EOF) == errors.Is(err, ErrExport) {
					t.Fatalf("neither the end nor damage, or both: %v", err)
				}
				return
			}
		}
	})
}

// unpacked is how many bytes are in a frame, as far as it is one.
func unpacked(frame []byte) uint64 {
	in, err := zstd.NewReader(bytes.NewReader(frame), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(windowBytes))
	if err != nil {
		return 0
	}
	defer in.Close()
	n, _ := io.Copy(io.Discard, in)
	return uint64(n)
}

// allocated is how many bytes were ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// A manifest is one that Write has written, or is refused by name.
func FuzzManifest(f *testing.F) {
	const plain = `{"format":1,"at":"2026-11-01T00:00:00Z","definition":{"version":1,"crawl":"weft","partitions":1,"suffix_list":"a","scope":"host","max_depth":-1,"delay_ms":0,"per_domain":1,"user_agent":""},"logs":[]}`
	f.Add([]byte(`{"manifest":` + plain + `,"sha256":"` + sum([]byte(plain)) + `"}`))
	f.Add([]byte(`{"manifest":{},"sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}`))
	f.Add([]byte(`{}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, manifestFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := readManifest(dir)
		if err != nil && !errors.Is(err, ErrExport) {
			t.Fatalf("not named as damage: %v", err)
		}
		if err == nil && (m.Format < 1 || m.Definition.Validate() != nil) {
			t.Fatalf("taken: %+v", m)
		}
	})
}
