package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/processors/parse/extract"
	"github.com/weftcrawl/weft/processors/parse/markup"
)

// jsonFeed is JSON Feed 1 and 1.1 (jsonfeed.org).
type jsonFeed struct {
	Version     string `json:"version"`
	Title       string `json:"title"`
	HomePage    string `json:"home_page_url"`
	FeedURL     string `json:"feed_url"`
	Next        string `json:"next_url"`
	Description string `json:"description"`
	Language    string `json:"language"`
	jsonAuthors
	Hubs []struct {
		URL string `json:"url"`
	} `json:"hubs"`
	Items jsonItems `json:"items"`
}

// jsonItem is an entry of JSON Feed.
type jsonItem struct {
	ID          any    `json:"id"` // numbers are common
	URL         string `json:"url"`
	ExternalURL string `json:"external_url"`
	Title       string `json:"title"`
	Summary     string `json:"summary"`
	HTML        string `json:"content_html"`
	Text        string `json:"content_text"`
	Published   string `json:"date_published"`
	Modified    string `json:"date_modified"`
	jsonAuthors
	Attachments []struct {
		URL string `json:"url"`
	} `json:"attachments"`
}

// jsonItems are the first entries. Entries beyond maxItems are counted and not kept, because an
// empty entry takes three bytes in the feed and hundreds in memory.
type jsonItems struct {
	list    []jsonItem
	omitted int
}

const maxItems = 10_000

func (j *jsonItems) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil // not a list: it is left out
	}
	for d.More() {
		var skipped json.RawMessage
		if len(j.list) >= maxItems {
			if d.Decode(&skipped) != nil {
				return nil
			}
			j.omitted++
			continue
		}
		var item jsonItem
		if err := d.Decode(&item); err != nil {
			if wrong := (*json.UnmarshalTypeError)(nil); !errors.As(err, &wrong) {
				return nil
			}
		}
		j.list = append(j.list, item)
	}
	return nil
}

type jsonAuthors struct {
	Author  struct{ Name string }   `json:"author"`
	Authors []struct{ Name string } `json:"authors"`
}

func (a jsonAuthors) name() string {
	if a.Author.Name == "" && len(a.Authors) > 0 {
		return a.Authors[0].Name
	}
	return a.Author.Name
}

func readJSON(body []byte, o Options) *Feed {
	var j jsonFeed
	r := &reader{opts: o, literal: true}
	f := &Feed{}
	if !utf8.Valid(body) {
		body = []byte(markup.Valid(string(body)))
	}
	// Members of another type are left out, and the rest counts.
	if err := json.Unmarshal(body, &j); err != nil && j.Version == "" || !strings.Contains(j.Version, "jsonfeed.org/version") {
		return f
	}
	*f = Feed{
		Kind: JSON, Link: r.url(j.HomePage), Self: r.url(j.FeedURL), Next: r.url(j.Next), Title: r.plain(j.Title), Description: r.plain(j.Description),
		Language: r.bounded(j.Language), Author: r.plain(j.name()),
	}
	for _, hub := range j.Hubs[:min(len(j.Hubs), MaxHubs)] {
		f.Hubs = append(f.Hubs, r.url(hub.URL))
	}
	kept := min(len(j.Items.list), o.MaxEntries)
	f.Omitted = len(j.Items.list) - kept + j.Items.omitted
	for _, item := range j.Items.list[:kept] {
		e := Entry{Link: r.url(item.URL), Title: r.plain(item.Title), Author: r.plain(item.name()), Date: r.bounded(item.Published)}
		if id, ok := item.ID.(string); ok {
			e.ID = r.bounded(id)
		}
		first(&e.Link, r.url(item.ExternalURL))
		first(&e.Date, r.bounded(item.Modified))
		first(&e.Summary, r.plain(item.Summary))
		first(&e.Summary, r.plain(extract.Bound(item.Text, 8*o.MaxFieldBytes)))
		first(&e.Summary, r.plain(extract.WithoutTags(extract.Bound(item.HTML, 8*o.MaxFieldBytes))))
		if len(item.Attachments) > 0 {
			e.Enclosure = r.url(item.Attachments[0].URL)
		}
		f.Entries = append(f.Entries, e)
	}
	return f
}
