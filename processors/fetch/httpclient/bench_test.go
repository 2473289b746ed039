package httpclient

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The server of the benchmarks is this test binary again, so that the CPU time
// that is measured is the client's alone.
const benchServerEnv = "FETCH_BENCH_SERVER"

func serveBench() {
	bodies := map[string][]byte{}
	text := page(30_000)
	for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
		bodies[coding] = compress(panicking{}, coding, text)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // the parent's end is ours
		os.Exit(0)
	}()
	fmt.Println(l.Addr())
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		coding := strings.TrimPrefix(r.URL.Path, "/")
		h := w.Header()
		if coding != "identity" {
			h.Set("Content-Encoding", coding)
		}
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Length", strconv.Itoa(len(bodies[coding])))
		_, _ = w.Write(bodies[coding])
	})))
}

// panicking is a testing.TB for compress outside of tests.
type panicking struct{ testing.TB }

func (panicking) Helper()           {}
func (panicking) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func startBenchServer(b *testing.B) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), benchServerEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return "http://" + strings.TrimSpace(addr) + "/"
}

// cpu is the processor time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkExchange compares Do with a bare http.Client that reads the body
// whole, both on one kept connection, with bodies of 30 KB.
func BenchmarkExchange(b *testing.B) {
	url := startBenchServer(b)
	measure := func(b *testing.B, one func() error) {
		if err := one(); err != nil { // connects
			b.Fatal(err)
		}
		b.ReportAllocs()
		b.ResetTimer()
		before := cpu()
		for b.Loop() {
			if err := one(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpu()-before).Microseconds())/float64(b.N), "cpu-µs/op")
	}
	bare := &http.Client{Transport: &http.Transport{}}
	b.Cleanup(bare.CloseIdleConnections)
	bareGet := func(coding string) func() error {
		return func() error {
			resp, err := bare.Get(url + coding)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if len(body) != 30_000 {
				return fmt.Errorf("%d bytes: %w", len(body), err)
			}
			return err
		}
	}
	c := newClient(b, nil)
	b.Run("bare/identity", func(b *testing.B) { measure(b, bareGet("identity")) })
	b.Run("bare/gzip", func(b *testing.B) { measure(b, bareGet("gzip")) })
	for _, coding := range []string{"identity", "gzip", "br", "zstd"} {
		b.Run("weft/"+coding, func(b *testing.B) {
			request := Request{URL: url + coding, Permit: func() bool { return true }}
			measure(b, func() error {
				if x := c.Do(b.Context(), request); len(x.Body) != 30_000 {
					return fmt.Errorf("%d bytes: %s", len(x.Body), x.Error)
				}
				return nil
			})
		})
	}
}
