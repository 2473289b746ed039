package main

import (
	"strconv"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/processors/dedupe/seen"
)

// bloomBits is the memory of dedupe's filter for a URL. The filter grows by
// slices, each twice the one before, so that this falls and leaps; what counts
// is the mean of sixteen sizes between half a million and a million URLs of a
// partition.
func bloomBits() float64 {
	const from, steps = 1 << 19, 16
	set := seen.Open(seen.DefaultOptions(), forgetful{})
	sum := 0.0
	for i := range 2 * from {
		set.Apply(&weftpb.Deduped{Targets: []*weftpb.Target{{Url: "http://example.com/" + strconv.Itoa(i)}}})
		if n := i + 1; n > from && n%(from/steps) == 0 {
			sum += float64(set.FilterBits()) / float64(set.Count())
		}
	}
	return sum / steps
}

// forgetful is a store that keeps nothing, because only the filter in front of it is measured.
type forgetful struct{}

func (forgetful) Get([]byte) []byte                                { return nil }
func (forgetful) Set(_, _ []byte)                                  {}
func (forgetful) Delete([]byte)                                    {}
func (forgetful) Scan(_, _ []byte, _ func(key, value []byte) bool) {}
