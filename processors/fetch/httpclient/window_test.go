package httpclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
)

// begun are bodies that announce a window of the largest size, and give a few
// bytes of it.
var begun = map[string]string{
	// A window of 16 MiB, and an uncompressed metablock as large.
	"br": "\xcf\xff\xff\xffhello",
	// A frame with a window of 8 MiB, and a raw block of 5 bytes.
	"zstd": "\x28\xb5\x2f\xfd\x00\x68\x28\x00\x00hello",
}

// response is one whose body is read from r.
func response(coding string, r io.Reader) *http.Response {
	return &http.Response{Header: http.Header{"Content-Encoding": {coding}}, ContentLength: -1, Body: io.NopCloser(r)}
}

// hanging gives bytes, and then hangs until it is closed.
func hanging(text string, closed <-chan struct{}) io.Reader {
	return io.MultiReader(strings.NewReader(text), readerFunc(func([]byte) (int, error) {
		<-closed
		return 0, io.ErrUnexpectedEOF
	}))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// outcome is the result of reading a body.
type outcome struct {
	body
	err error
}

// reading reads a body beside the test.
func reading(t *testing.T, b *bodies, limit int64, resp *http.Response) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		got, err := b.read(t.Context(), func(error) {}, resp, limit)
		done <- outcome{got, err}
	}()
	return done
}

// A server that sends a little and hangs occupies no window.
func TestHangingBodiesHoldNoWindow(t *testing.T) {
	const hosts = 50
	for coding, text := range begun {
		for _, codings := range []string{coding, coding + "," + coding} {
			t.Run(codings, func(t *testing.T) {
				if codings != coding {
					text = string(compress(t, coding, []byte(text)))
				}
				synctest.Test(t, func(t *testing.T) {
					b, closed := newBodies(DefaultOptions()), make(chan struct{})
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					var all []<-chan outcome
					for range hosts {
						all = append(all, reading(t, b, 10<<20, response(codings, hanging(text, closed))))
					}
					synctest.Wait()
					runtime.ReadMemStats(&after)
					if each := (after.TotalAlloc - before.TotalAlloc) / hosts; each > 256<<10 {
						t.Errorf("%d bytes for each", each)
					}
					close(closed)
					for _, done := range all {
						if x := <-done; Classify(x.err) != ClassBodyTruncated {
							t.Errorf("error %v", x.err)
						}
					}
				})
			})
		}
	}
}

// When all windows are taken, bodies that need one wait, and others do not.
func TestWindowsAreBounded(t *testing.T) {
	text := page(100_000)
	for coding, layers := range map[string]int64{"gzip": 0, "deflate": 0, "br": 1, "zstd": 1, "gzip,br": 1, "br,zstd": 2} {
		t.Run(coding, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBodies(DefaultOptions())
				taken := min(maxWindows-layers+1, maxWindows)
				b.windows.TryAcquire(taken)
				done := reading(t, b, 10<<20, response(coding, bytes.NewReader(compress(t, coding, text))))
				synctest.Wait()
				if waits := len(done) == 0; waits != (layers > 0) {
					t.Fatalf("it waits: %v", waits)
				}
				b.windows.Release(taken)
				if x := <-done; x.err != nil || !bytes.Equal(x.bytes, text) {
					t.Errorf("%d bytes, error %v", len(x.bytes), x.err)
				}
				if !b.windows.TryAcquire(maxWindows) {
					t.Error("a window is still taken")
				}
			})
		})
	}
}

// When the time of a body ends while it waits for a window, it is not the server's fault, and
// no window stays taken.
func TestNoWindowInTime(t *testing.T) {
	b := newBodies(DefaultOptions())
	b.windows.TryAcquire(maxWindows)
	resp := response("br", bytes.NewReader(compress(t, "br", page(1000))))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.read(ctx, nil, resp, 10<<20); !errors.Is(err, errNoMemory) {
		t.Errorf("error %v", err)
	}
	b.windows.Release(maxWindows)
	if !b.windows.TryAcquire(maxWindows) {
		t.Error("a window is still taken")
	}
}

// A body that becomes large when it is decoded waits for memory without a window.
func TestNoWindowIsHeldForRoom(t *testing.T) {
	const limit = 4 << 20
	text := page(3_000_000)
	for _, coding := range []string{"br", "zstd", "br,zstd"} {
		t.Run(coding, func(t *testing.T) {
			packed := compress(t, coding, text)
			if len(packed) > largeBody {
				t.Fatalf("%d bytes are large themselves", len(packed))
			}
			synctest.Test(t, func(t *testing.T) {
				o := DefaultOptions()
				o.MaxBodyBytes, o.LargeBodyBytes = limit, limit
				b := newBodies(o)
				other, err := b.memory.tryReserve(limit)
				if err != nil {
					t.Fatal(err)
				}
				done := reading(t, b, limit, response(coding, bytes.NewReader(packed)))
				synctest.Wait()
				if len(done) > 0 {
					t.Fatal("there was memory for it")
				}
				if !b.windows.TryAcquire(maxWindows) {
					t.Fatal("it has a window while it waits")
				}
				b.windows.Release(maxWindows)
				other.release()
				x := <-done
				if x.err != nil || !bytes.Equal(x.bytes, text) || x.truncated {
					t.Errorf("%d bytes, truncated %v, error %v", len(x.bytes), x.truncated, x.err)
				}
				if b.memory.free.TryAcquire(1) {
					t.Error("it has no memory")
				}
				x.reservation.release()
				if !b.memory.free.TryAcquire(limit) {
					t.Error("memory is still reserved")
				}
			})
		})
	}
}

// A body that is large before it is decoded reserves memory for the encoded and the decoded
// bytes at once, and keeps the memory of the decoded ones.
func TestLargePackedBodies(t *testing.T) {
	const limit = 4 << 20
	noise := make([]byte, limit+largeBody)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	for _, coding := range []string{"br", "zstd", "gzip,br"} {
		for _, n := range []int{largeBody, 2 * largeBody, limit - 1000, limit + largeBody} {
			packed := compress(t, coding, noise[:n])
			o := DefaultOptions()
			o.MaxBodyBytes, o.LargeBodyBytes = limit, 3*limit
			b := newBodies(o)
			got, err := b.read(t.Context(), func(error) {}, response(coding, bytes.NewReader(packed)), limit)
			if err != nil || got.truncated != (n > limit) {
				t.Fatalf("%s, %d bytes: truncated %v, error %v", coding, n, got.truncated, err)
			}
			if n <= limit && !bytes.Equal(got.bytes, noise[:n]) || !bytes.HasPrefix(noise, got.bytes) {
				t.Errorf("%s, %d bytes: got %d", coding, n, len(got.bytes))
			}
			if got.wireBytes != min(int64(len(packed)), limit) {
				t.Errorf("%s, %d bytes: %d on the wire, of %d", coding, n, got.wireBytes, len(packed))
			}
			if !b.memory.free.TryAcquire(2 * limit) {
				t.Errorf("%s, %d bytes: more memory is reserved than for what is decoded", coding, n)
			}
			b.memory.free.Release(2 * limit)
			got.reservation.release()
			if !b.memory.free.TryAcquire(3 * limit) {
				t.Errorf("%s, %d bytes: memory is still reserved", coding, n)
			}
		}
	}
}
