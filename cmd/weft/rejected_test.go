package main

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/topics"
)

func TestExcerptShowsWhatPeopleCanRead(t *testing.T) {
	tests := []struct{ value, want string }{
		{"", ""},
		{"http://example.com/", "http://example.com/"},
		{"\x0a\x13http://example.com/\x10\x01\x1a\x04text\xff\xfe", ".http://example.com/.text"},
		{"tab\tand\nline \u00e4\u4e16", "tab.and.line \u00e4\u4e16"},
		{"\x1b[31mred", ".[31mred"}, // nothing that a terminal would obey
		{strings.Repeat("a", 100), strings.Repeat("a", excerptRunes)},
	}
	for _, tt := range tests {
		if got := excerpt([]byte(tt.value)); got != tt.want {
			t.Errorf("excerpt of %q is %q, want %q", tt.value, got, tt.want)
		}
	}
}

func TestLedgersAreNotReplayed(t *testing.T) {
	names := topics.Loop("weft")
	tests := []struct {
		record refusal
		want   string
	}{
		{refusal{Topic: names.Fetched, Whole: true}, ""},
		{refusal{Topic: names.Seeds, Whole: true}, ""},
		{refusal{Topic: names.Visited, Whole: true}, ""},
		{refusal{Topic: names.Fetched}, "fetched, too large to be kept whole"},
		{refusal{Topic: names.Deduped, Whole: true}, "deduped, to which only its owner writes"},
		{refusal{Topic: names.Scheduled, Whole: true}, "scheduled, to which only its owner writes"},
		{refusal{Topic: "other.fetched", Whole: true}, "other.fetched, which is no topic of this crawl"},
	}
	for _, tt := range tests {
		if got := unreplayable(names, tt.record); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.record.Topic, got, tt.want)
		}
	}
}
