package httpclient

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sized answers with as many bytes as the path says, with or without saying so
// before.
func sized(t testing.TB, announced bool) string {
	return newServer(t, func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			t.Errorf("path %s", r.URL.Path)
		}
		if announced {
			w.Header().Set("Content-Length", strconv.Itoa(n))
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(page(n))
	}).URL
}

func TestLargeBodiesAreWhole(t *testing.T) {
	const limit = 5 << 20
	for _, announced := range []bool{true, false} {
		url := sized(t, announced)
		c := newClient(t, func(o *Options) { o.MaxBodyBytes, o.LargeBodyBytes = limit, limit })
		for _, n := range []int{largeBody - 1, largeBody, largeBody + 1, 2*largeBody + 1, limit - 1, limit, limit + 1, 3 * limit} {
			x := get(t, c, url+"/"+strconv.Itoa(n))
			want(t, x, ClassNone)
			if !bytes.Equal(x.Body, page(n)[:min(n, limit)]) || x.Truncated != (n > limit) {
				t.Errorf("%d bytes, announced %v: got %d, truncated %v", n, announced, len(x.Body), x.Truncated)
			}
			if most := max(limit+1, 2*len(x.Body)); cap(x.Body) > most {
				t.Errorf("%d bytes lie in %d", n, cap(x.Body))
			}
			x.Release()
			x.Release()
		}
	}
}

func TestLargeBodiesShareTheirMemory(t *testing.T) {
	url := sized(t, true)
	c := newClient(t, func(o *Options) { o.MaxBodyBytes, o.LargeBodyBytes = 4<<20, 4<<20 })
	first := get(t, c, url+"/3000000")
	want(t, first, ClassNone)

	small := get(t, c, url+"/500000")
	want(t, small, ClassNone) // needs none

	// Time enough for all but the memory that it waits for.
	impatient := newClient(t, func(o *Options) { o.TotalTimeout = 25 * soon })
	impatient.bodies.memory = c.bodies.memory
	x := get(t, impatient, url+"/3000000")
	want(t, x, ClassLocalError)
	if x.Status != 200 {
		t.Errorf("status %d", x.Status)
	}
	x.Release() // has nothing

	done := make(chan *Exchange)
	go func() { done <- get(t, c, url+"/3000000") }()
	select {
	case <-done:
		t.Fatal("there was memory for a second large body")
	case <-time.After(soon):
	}
	first.Release()
	second := <-done
	want(t, second, ClassNone)
	if !bytes.Equal(first.Body, second.Body) {
		t.Error("the bodies differ")
	}
	second.Release()
}

// A large body is kept with its codings, too, and its reservation is for both forms.
func TestLargeCodedBodies(t *testing.T) {
	const limit = 5 << 19
	noise := make([]byte, 3<<19)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	nothing := bytes.Repeat(compress(t, "gzip", nil), 3<<19/20)
	for name, tc := range map[string]struct {
		coding      string
		coded, body []byte
		kept        bool
	}{
		"text in gzip":                 {"gzip", compress(t, "gzip", page(4<<19)), page(4 << 19), true},
		"noise in gzip":                {"gzip", compress(t, "gzip", noise), noise, true},
		"noise in deflate":             {"deflate", compress(t, "deflate", noise), noise, true},
		"noise in brotli":              {"br", compress(t, "br", noise), noise, true},
		"noise in zstd":                {"zstd", compress(t, "zstd", noise), noise, true},
		"noise in two":                 {"gzip, br", compress(t, "gzip,br", noise), noise, true},
		"text in zstd, coded small":    {"zstd", compress(t, "zstd", bytes.Repeat([]byte("text "), 450_000)), bytes.Repeat([]byte("text "), 450_000), true},
		"no such coding":               {"utf-8", noise, noise, true},
		"cut":                          {"gzip", compress(t, "gzip", page(limit+1)), page(limit + 1)[:limit], false},
		"cut as it came":               {"utf-8", page(limit + 1), page(limit + 1)[:limit], false},
		"much that decodes to nothing": {"gzip", nothing, nil, false},
	} {
		for _, announced := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, announced %v", name, announced), func(t *testing.T) {
				url := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/html")
					w.Header().Set("Content-Encoding", tc.coding)
					if announced {
						w.Header().Set("Content-Length", strconv.Itoa(len(tc.coded)))
					}
					_, _ = w.Write(tc.coded)
				}).URL
				c := newClient(t, func(o *Options) { o.KeepCoded, o.MaxBodyBytes, o.LargeBodyBytes = true, limit, 2*limit })
				x := get(t, c, url)
				want(t, x, ClassNone)
				if !bytes.Equal(x.Body, tc.body) {
					t.Errorf("body of %d bytes, want %d", len(x.Body), len(tc.body))
				}
				if tc.kept != (x.CodedBody != nil) || tc.kept && !bytes.Equal(x.CodedBody, tc.coded) {
					t.Errorf("coded body of %d bytes of %d, kept %v", len(x.CodedBody), len(tc.coded), tc.kept)
				}
				if kept := int64(len(x.Body) + len(x.CodedBody)); len(x.Body) > largeBody && (x.reservation == nil || x.reservation.bytes < kept) {
					t.Errorf("%d bytes have the reservation %+v", kept, x.reservation)
				}
				x.Release()
				if !c.bodies.memory.free.TryAcquire(2 * limit) {
					t.Error("memory is not free again")
				}
			})
		}
	}
}

// A failed body gives its memory back.
func TestFailedBodyLeavesNoReservation(t *testing.T) {
	s := answerRaw(t, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2000000\r\n\r\n"+string(page(1_500_000)))
	c := newClient(t, func(o *Options) { o.MaxBodyBytes, o.LargeBodyBytes, o.TotalTimeout = 2<<20, 2<<20, 3*soon })
	for range 2 {
		x := get(t, c, s.url)
		if x.Class != ClassTotalTimeout {
			t.Fatalf("class %q: %s", x.Class, x.Error)
		}
	}
}

func TestBodyMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newBodyMemory(Options{LargeBodyBytes: 10, TotalTimeout: time.Minute, BodyRateWindow: time.Second})
		first, err := m.reserve(t.Context(), 1000, 1000, nil) // larger than all memory
		if err != nil {
			t.Fatal(err)
		}
		first.whole()
		taken := make(chan *reservation)
		go func() {
			second, err := m.reserve(t.Context(), 1, 1, nil)
			if err != nil {
				t.Error(err)
			}
			taken <- second
		}()
		time.Sleep(10 * time.Second)
		select {
		case <-taken:
			t.Fatal("there was no memory, and it was reserved")
		default:
		}
		first.release()
		first.release()
		(<-taken).release()
	})
}

// A body whose memory another body waits for must come at the rate that fills its
// reservation within the time of an exchange.
func TestSlowBodyLosesItsReservation(t *testing.T) {
	const (
		window = 10 * time.Second
		most   = 60 << 20 // 1 MiB/s fills it in time
	)
	for _, tc := range []struct {
		name   string
		rate   int64         // bytes a second
		until  time.Duration // from when on nothing comes
		waiter time.Duration // when another body begins to wait; 0: never
		end    time.Duration // when it is ended; 0: it is not
	}{
		{"fast enough", 12 << 17, time.Hour, 5 * time.Second, 0},
		{"too slow", 4 << 17, time.Hour, 5 * time.Second, 15 * time.Second},
		{"too slow, for a while already", 4 << 17, time.Hour, 30 * time.Second, 40 * time.Second},
		{"too slow, and no other waits", 1, time.Hour, 0, 0},
		{"fast, then nothing", 4 << 20, 5 * time.Second, time.Second, 21 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				m := newBodyMemory(Options{LargeBodyBytes: most, TotalTimeout: time.Minute, BodyRateWindow: window})
				var ended time.Duration
				s, err := m.reserve(t.Context(), most, most, func(why error) {
					want(t, &Exchange{Class: Classify(why), Error: why.Error()}, ClassSlowBody)
					ended = time.Since(began)
				})
				if err != nil {
					t.Fatal(err)
				}
				waiting, stop := context.WithCancel(t.Context())
				var waiter sync.WaitGroup
				if tc.waiter > 0 {
					waiter.Go(func() {
						time.Sleep(tc.waiter)
						if _, err := m.reserve(waiting, 1, 1, nil); !errors.Is(err, errNoMemory) {
							t.Errorf("there was memory for it: %v", err)
						}
					})
				}
				for at := time.Duration(0); at < 50*time.Second; at += time.Second / 2 {
					if at < tc.until {
						s.filled.Store(largeBody + int64(float64(tc.rate)*at.Seconds()))
					}
					time.Sleep(time.Second / 2)
				}
				stop()
				waiter.Wait()
				if ended != tc.end {
					t.Errorf("ended after %v, want %v", ended, tc.end)
				}
				s.release()
			})
		})
	}
}

// A server that sends little, slowly, does not stop large pages of other servers from
// being read.
func TestSlowBodyGivesItsMemoryToOthers(t *testing.T) {
	beginning := page(3 << 19)
	assertGivesMemory(t, 10*time.Second, fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", ok, len(beginning), beginning))
}

// Here a body is there at once, and bytes after the end of its coding come slowly.
func TestSlowTailGivesItsMemoryToOthers(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(page(3 << 19))
	_ = w.Close()
	coded := fmt.Sprintf("%sContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", ok, packed.Len(), packed.Bytes())
	assertGivesMemory(t, time.Minute, coded)
}

// assertGivesMemory asserts that a chunked response ends when another large page needs its
// memory. The response begins as given, and then comes a byte at a time.
func assertGivesMemory(t *testing.T, total time.Duration, beginning string) {
	t.Helper()
	const limit = 4 << 20
	c := newClient(t, func(o *Options) {
		o.MaxBodyBytes, o.LargeBodyBytes, o.MinBodyRate = limit, limit, 1
		o.TotalTimeout, o.BodyRateWindow = total, soon
	})
	url := goesOn(beginning, "1\r\nx\r\n", time.Millisecond)(t)
	slow := make(chan *Exchange)
	go func() { slow <- get(t, c, url) }()
	for c.bodies.memory.free.TryAcquire(1) {
		c.bodies.memory.free.Release(1)
		time.Sleep(time.Millisecond)
	}
	x := get(t, c, sized(t, false)+"/3000000")
	want(t, x, ClassNone)
	x.Release()
	want(t, <-slow, ClassSlowBody)
}
