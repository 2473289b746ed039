package codecs

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The metadata of a record is the record without what stands between headings and links,
// whatever its texts look like.
func TestDecodeParsedMetadata(t *testing.T) {
	p := sampleParsed()
	p.Title, p.Text = `","headings":[`, `a "text" ,"links":[] `+strings.Repeat("long ", 1000)
	p.Fields = json.RawMessage(`{"a":1,"links":[{"url":"x"}],"headings":[1]}`)
	p.Links, p.LinksOmitted = append(p.Links, ParsedLink{URL: "http://k.example/,", Text: `,"links":[`}), 7
	p.Archived = &ParsedArchived{Partition: 1, Offset: 2}
	got, err := DecodeParsedMetadata(p.AppendJSON(nil))
	if err != nil || got.ID != p.ID || got.URL != p.URL || !got.FetchedAt.Equal(p.FetchedAt) {
		t.Fatalf("%+v, %v", got, err)
	}
	var kept Parsed
	if err := json.Unmarshal(got.JSON, &kept); err != nil {
		t.Fatalf("%v: %s", err, got.JSON)
	}
	if kept.Text != "" || kept.Headings != nil || kept.Title != p.Title || kept.ContentHash != p.ContentHash || kept.LinksOmitted != 7 {
		t.Errorf("%+v", kept)
	}
	if diff := cmp.Diff(p.Links, kept.Links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(p.Archived, kept.Archived); diff != "" {
		t.Errorf("archived (-want +got):\n%s", diff)
	}
}

func TestDecodeParsedMetadataRefuses(t *testing.T) {
	at := time.Unix(0, 0).UTC().Format(time.RFC3339)
	for _, value := range []string{
		``, `{}`, `[]`, `{"id":"1","url":"u","fetched_at":"` + at + `"}`, `{"id":"","url":"u","headings":[],"links":[]}`,
		`{"id":"1","url":"u","headings":[],"links":[}`, `{"id":1,"url":"u","headings":[],"links":[]}`, `{"id":"1","url":"u","links":[],"headings":[]}`,
	} {
		if p, err := DecodeParsedMetadata([]byte(value)); err == nil {
			t.Errorf("%s is %+v", value, p)
		}
	}
}

func TestLastIndex(t *testing.T) {
	for _, text := range []string{"", "a", "aba", "abab", "ababab", "xabxab", "abx", "aab"} {
		if got, want := lastIndex([]byte(text), []byte("ab")), strings.LastIndex(text, "ab"); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
