package main

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
	"time"
)

func TestGrowthRows(t *testing.T) {
	got := growthRows([]growthPoint{{1e4, 100, time.Second}, {3e4, 300, 2 * time.Second}, {1e5, 1300, 12 * time.Second}})
	want := []growthRow{{1e4, 3e4, 200, 5000, 50}, {3e4, 1e5, 1000, 10000, 1e7 / 7e4}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCounters(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("# HELP weft_pages_total Pages.\nweft_pages_total 12\nweft_deduped_urls_total{result=\"new\"} 1.5e+06\n"))
	}))
	got, err := counters(t.Context(), server.URL)
	if want := map[string]float64{"weft_pages_total": 12, `weft_deduped_urls_total{result="new"}`: 1.5e6}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	server.Close()
	if got, err := counters(t.Context(), server.URL); len(got) > 0 || err != nil {
		t.Errorf("no server: %v, %v", got, err)
	}
}
