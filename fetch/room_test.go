package fetch

import (
	"bytes"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
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

func TestLargeBodiesShareTheirRoom(t *testing.T) {
	url := sized(t, true)
	c := newClient(t, func(o *Options) { o.MaxBodyBytes, o.LargeBodyBytes = 4<<20, 4<<20 })
	first := get(t, c, url+"/3000000")
	want(t, first, ClassNone)

	small := get(t, c, url+"/500000")
	want(t, small, ClassNone) // needs none

	// Time enough for all but the room that it waits for.
	impatient := newClient(t, func(o *Options) { o.TotalTimeout = 10 * soon })
	impatient.bodies.room = c.bodies.room
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
		t.Fatal("a second large body had room")
	case <-time.After(soon):
	}
	first.Release()
	second := <-done
	want(t, second, ClassNone)
	if diff := cmp.Diff(first.Body, second.Body); diff != "" {
		t.Error("the bodies differ")
	}
	second.Release()
}

// A failed body gives its room back.
func TestFailedBodyLeavesNoRoomTaken(t *testing.T) {
	s := answerRaw(t, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2000000\r\n\r\n"+string(page(1_500_000)))
	c := newClient(t, func(o *Options) { o.MaxBodyBytes, o.LargeBodyBytes, o.TotalTimeout = 2<<20, 2<<20, 3*soon })
	for range 2 {
		x := get(t, c, s.url)
		if x.Class != ClassTotalTimeout {
			t.Fatalf("class %q: %s", x.Class, x.Error)
		}
	}
}

func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(10)
		free, err := r.take(t.Context(), 1000) // larger than all there is
		if err != nil {
			t.Fatal(err)
		}
		taken := make(chan func())
		go func() {
			second, err := r.take(t.Context(), 1)
			if err != nil {
				t.Error(err)
			}
			taken <- second
		}()
		synctest.Wait()
		select {
		case <-taken:
			t.Fatal("there was no room")
		default:
		}
		free()
		free()
		(<-taken)()
	})
}
