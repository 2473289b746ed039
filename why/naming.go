package why

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/parse"
	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/urls"
)

// naming judges a URL, to which links from some pages would be too deep, by the pages
// of its domain in parsed that name it. It is would if none does, or if the link of
// one would be taken.
func (a *Asker) naming(ctx context.Context, s *URLStory, url urls.URL, f *finds, would Scope) (Scope, error) {
	bounds, err := a.logs.Bounds(ctx, a.names.Parsed, s.Partition)
	if err != nil {
		return would, err
	}
	// In a URL that is canonical nothing else is written differently in JSON.
	quoted := []byte(`"` + strings.ReplaceAll(s.URL, `\`, `\\`) + `"`)
	options := processors.ParseOptions(a.definition)
	verdict := would
	cut, err := a.search(ctx, a.names.Parsed, bounds, func(r *kgo.Record) (bool, error) {
		if !bytes.Contains(r.Value, quoted) {
			return false, nil
		}
		var page codecs.Parsed
		if json.Unmarshal(r.Value, &page) != nil {
			return false, nil // another program wrote it
		}
		hop, root, known := f.get(page.URL, s.Partition)
		source, refusal := urls.Parse(page.URL)
		if !known || refusal != urls.Accepted || !follows(options, page, s.URL) {
			return false, nil
		}
		from := scope.Referrer{URL: source, Domain: page.Domain, Depth: hop.Depth, Root: root, Via: weftpb.Via_VIA_LINK}
		of := judge(a.definition, a.policy, from, url, s.Domain)
		switch {
		case of.In:
			verdict = would
		case of.Rule == string(scope.TooDeep):
			verdict = of
			verdict.Text = fmt.Sprintf("%s names it, and %s", page.URL, of.Text)
		}
		return of.In, nil
	})
	if cut {
		s.Unknown = append(s.Unknown, fmt.Sprintf("only the first %s of parsed were searched for a page that names it", bytesText(searchBytes)))
	}
	return verdict, err
}

// follows tells whether the crawl goes on to a URL from a page.
func follows(o parse.Options, page codecs.Parsed, url string) bool {
	return !page.Robots.NoFollow && page.Unfollowed == "" && slices.ContainsFunc(page.Links, func(l codecs.ParsedLink) bool {
		return l.URL == url && o.Follows(parse.Kind(l.Kind), parse.Kind(l.Element), l.Rel)
	})
}
