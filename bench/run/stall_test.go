package main

import (
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/test/webserver"
)

// A log of two domains in a partition each: "a" gets a request every second, and so does "b",
// except for four seconds.
func TestStalls(t *testing.T) {
	base := time.Unix(1000, 0)
	at := func(ms int) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }
	request := func(domain string, ms int) webserver.Entry {
		return webserver.Entry{Domain: domain, Start: at(ms).UnixNano(), End: at(ms + 100).UnixNano()}
	}
	var log []webserver.Entry
	for s := range 12 {
		log = append(log, request("a", 1000*s))
		if s < 4 || s > 7 {
			log = append(log, request("b", 1000*s+500))
		}
	}
	partitionOf := func(domain string) int32 { return int32(strings.Index("ab", domain)) }
	const delay = 800 * time.Millisecond
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	tests := []struct {
		name     string
		from, to int
		want     stall
	}{
		{"quiet", 0, 3900, stall{whole: ms(500), partition: ms(1000), domain: ms(100), domains: ms(100)}},
		{"all", 0, 12000, stall{whole: ms(1000), partition: ms(5000), number: 1, domain: ms(4100), name: "b", domains: ms(4100)}},
		{"begins within", 5000, 12000, stall{whole: ms(1000), partition: ms(3500), number: 1, domain: ms(3500), name: "b", domains: ms(3500)}},
		{"ends within", 0, 6000, stall{whole: ms(1000), partition: ms(2500), number: 1, domain: ms(1600), name: "b", domains: ms(1600)}},
	}
	for _, tt := range tests {
		got := stalls(log, at(tt.from), at(tt.to), delay, partitionOf)
		if tt.want.name == "" { // either
			got.name, got.number = "", 0
		}
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got := stalls(nil, at(0), at(1000), delay, partitionOf); got != (stall{}) {
		t.Errorf("an empty log: %+v", got)
	}
}
