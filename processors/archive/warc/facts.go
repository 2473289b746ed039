package warc

import (
	"encoding/json"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
)

// Facts are what parse needs to know of an exchange besides its messages. They are in the record
// of the response, so that the exchange can be parsed again (package reparse).
type Facts struct {
	// ID is Fetched.id, Archived the record of fetched, and Depth the depth of the target.
	ID       string                `json:"id"`
	Archived codecs.ParsedArchived `json:"archived"`
	Depth    uint32                `json:"depth,omitempty"`
	// ErrorClass is that of the outcome: the body was not read, or not to its end.
	ErrorClass string `json:"error_class,omitempty"`
	// Truncated: the body was cut at the limit.
	Truncated bool `json:"truncated,omitempty"`
	// Aside: the exchange was for a robots.txt, or a check. It has no page.
	Aside bool `json:"aside,omitempty"`
	// Sitemap: the URL was asked for as a sitemap. Guessed: no robots.txt names it.
	Sitemap bool `json:"sitemap,omitempty"`
	Guessed bool `json:"guessed,omitempty"`
	// OutOfScope and Root are those of a sitemap: whether HTML in its place is outside of the crawl, and the
	// URL of its level 1, if that is another URL. Earlier records have neither.
	OutOfScope bool   `json:"out_of_scope,omitempty"`
	Root       string `json:"root,omitempty"`
	// Usage is Request.usage: what robots.txt says about the use of the page.
	Usage string `json:"usage,omitempty"`
}

// factsField is the field of a record that has the facts, as JSON.
const factsField = "Weft-Exchange"

func factsOf(x *weftpb.Fetched, at codecs.ParsedArchived) Facts {
	aside := x.GetRobots() != nil
	if aside {
		x = x.GetRobots()
	}
	target := x.GetRequest().GetTarget()
	return Facts{
		ID: x.GetId(), Archived: at, Depth: target.GetDepth(),
		ErrorClass: x.GetOutcome().GetErrorClass(), Truncated: x.GetOutcome().GetTruncated(), Aside: aside,
		Sitemap: target.GetSitemap() != nil, Guessed: target.GetSitemap().GetGuessed(),
		OutOfScope: target.GetSitemap().GetOutOfScope(), Root: target.GetSitemap().GetRoot(), Usage: x.GetRequest().GetUsage(),
	}
}

func (f Facts) json() string {
	text, err := json.Marshal(f)
	if err != nil {
		return "" // strings and numbers have no errors
	}
	return string(text)
}

// Facts returns what the record says of its exchange. It returns false if it says nothing: another
// program wrote it, or an earlier version.
func (r Record) Facts() (f Facts, ok bool) {
	return f, json.Unmarshal([]byte(r.Field(factsField)), &f) == nil
}
