package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"sync"
	"time"
)

// serveTrickle is a command of the test scripts: trickle SEEDFILE ASKEDFILE
// serves pages that never come to an end until it is interrupted. ASKEDFILE is
// there once the first of them has begun.
func serveTrickle() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var asked sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for {
			if _, err := fmt.Fprint(w, "<p>and so on"); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			asked.Do(func() { _ = os.WriteFile(os.Args[2], []byte("now"), 0o644) })
			select {
			case <-r.Context().Done():
				return
			case <-ctx.Done():
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}))
	defer server.Close()
	if err := os.WriteFile(os.Args[1], []byte(server.URL+"/\n"), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	<-ctx.Done()
}
