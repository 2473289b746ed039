package why

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/topiclog"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/normalize"
	"github.com/weftcrawl/weft/processors/normalize/scope"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

// searchBytes bounds the bytes of a topic that are read to find one record.
const searchBytes = 128 << 20

// errEnough ends a search.
var errEnough = errors.New("enough")

// search reads records of one topic until visit returns true. cut reports that it ended after
// searchBytes.
func (a *Asker) search(
	ctx context.Context, topic string, bounds map[int32]topiclog.Bounds, visit func(*kgo.Record) (found bool),
) (cut bool, err error) {
	size, read := 0, a.logs.Range
	if topic == a.names.Seeds {
		read = a.logs.CommittedRange
	}
	err = read(ctx, topic, bounds, func(r *kgo.Record) error {
		if visit(r) {
			return errEnough
		}
		if size += len(r.Value); size > searchBytes {
			cut = true
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return cut, err
}

// Transit is a record that names a URL and that the next stage has not read yet.
type Transit struct {
	Ref Ref `json:"ref"`
	// Source is the page that names the URL; empty for a seed.
	Source string `json:"source,omitempty"`
	// Stage reads the record next.
	Stage topics.Stage `json:"stage"`
}

// transit looks for the URL in records that normalize and dedupe have not read.
func (a *Asker) transit(ctx context.Context, l loop, url urls.URL, domain string) (found *Transit, cut bool, err error) {
	normalize, err := normalize.New(stage.Env{Names: a.names, Definition: a.definition, Meter: stage.NoMeter{}})
	if err != nil {
		return nil, false, err
	}
	for _, topic := range []string{a.names.Normalized, a.names.Discovered, a.names.Seeds} {
		var next topics.Stage
		bounds := map[int32]topiclog.Bounds{}
		for _, lag := range l.status.Lags {
			if lag.Topic == topic && (topic != a.names.Normalized || lag.Partition == a.partition(domain)) {
				next = lag.Stage
				bounds[lag.Partition] = topiclog.Bounds{Start: max(lag.Committed, lag.Start), End: lag.End}
			}
		}
		over, err := a.search(ctx, topic, bounds, func(r *kgo.Record) bool {
			source, names := a.named(r, normalize, url.String(), domain)
			if names {
				found = &Transit{Ref: a.ref(r), Source: source, Stage: next}
			}
			return names
		})
		if err != nil || found != nil {
			return found, false, err
		}
		cut = cut || over
	}
	return nil, cut, nil
}

// named reports whether a record leads to the URL, and the page that it is from.
func (a *Asker) named(r *kgo.Record, normalize stage.Transform, url, domain string) (source string, names bool) {
	records := []stage.Output{{Domain: string(r.Key), Value: r.Value}}
	if r.Topic != a.names.Normalized {
		records, _ = normalize(r)
	}
	for _, record := range records {
		if record.Domain != domain {
			continue
		}
		var n weftpb.Normalized
		if proto.Unmarshal(record.Value, &n) != nil {
			continue // dedupe rejects it
		}
		for _, t := range n.Targets {
			if t.Url == url {
				return n.Source, true
			}
		}
	}
	return "", false
}

// naming judges a URL to which links from some pages would be too deep. It looks for pages
// of its domain in parsed that name the URL. The result is would if there is no such page,
// or if the link of one would be followed.
func (a *Asker) naming(ctx context.Context, s *URLStory, url urls.URL, f *discoveries, would Scope) (Scope, error) {
	bounds, err := a.logs.Bounds(ctx, a.names.Parsed, s.Partition)
	if err != nil {
		return would, err
	}
	// JSON escapes only backslashes in a canonical URL.
	quoted := []byte(`"` + strings.ReplaceAll(s.URL, `\`, `\\`) + `"`)
	options := settings.ParseOptions(a.definition)
	verdict := would
	cut, err := a.search(ctx, a.names.Parsed, bounds, func(r *kgo.Record) bool {
		if !bytes.Contains(r.Value, quoted) {
			return false
		}
		var page codecs.Parsed
		if json.Unmarshal(r.Value, &page) != nil {
			return false // another program wrote it
		}
		hop, root, known := f.get(page.URL, s.Partition)
		source, refusal := urls.Parse(page.URL)
		if !known || refusal != urls.Accepted || !follows(options, page, s.URL) {
			return false
		}
		from := scope.Referrer{URL: source, Domain: page.Domain, Depth: hop.Depth, Root: root, Via: weftpb.Via_VIA_LINK}
		of := a.judge(from, url, s.Domain)
		switch {
		case of.In:
			verdict = would
		case of.Rule == string(scope.TooDeep):
			verdict = of
			verdict.Text = fmt.Sprintf("%s names it, and %s", page.URL, of.Text)
		}
		return of.In
	})
	if cut {
		s.unknown("only the first %s of parsed were searched for a page that names it", progress.Bytes(searchBytes))
	}
	return verdict, err
}

// follows reports whether the crawl follows links of a page to a URL.
func follows(o document.Options, page codecs.Parsed, url string) bool {
	return !page.Robots.NoFollow && page.Unfollowed == "" && slices.ContainsFunc(page.Links, func(l codecs.ParsedLink) bool {
		return l.URL == url && o.Follows(document.Kind(l.Kind), document.Kind(l.Element), l.Rel)
	})
}

// Page is the record of a page in parsed.
type Page struct {
	// ID and Ref of the record; empty and nil if it was not found. Missing says why.
	ID      string    `json:"id,omitempty"`
	Ref     *Ref      `json:"ref,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Missing string    `json:"missing,omitempty"`
}

// clockSkew is the largest difference between the clocks of fetch and parse.
const clockSkew = time.Minute

// tellPage adds the page of the last request, if its response has one. The topic has whole
// pages, so reading begins at the time of the request.
func (a *Asker) tellPage(ctx context.Context, s *URLStory, last Step, around loop) error {
	if last.Reason != frontier.ReasonFetched || last.Attempt == nil || last.Attempt.Status < 200 || last.Attempt.Status > 299 {
		return nil
	}
	since := last.Attempt.At.Add(-clockSkew).UnixMilli()
	parsed, err := a.logs.BoundsSince(ctx, a.names.Parsed, since, s.Partition)
	if err != nil {
		return err
	}
	var page Page
	cut, err := a.search(ctx, a.names.Parsed, parsed, func(r *kgo.Record) bool {
		if string(r.Key) != s.URL {
			return false
		}
		var found struct{ ID string }
		if json.Unmarshal(r.Value, &found) != nil {
			return false // another program wrote it
		}
		ref := a.ref(r)
		page = Page{ID: found.ID, Ref: &ref, At: r.Timestamp.UTC()}
		return true
	})
	if err == nil && page.Ref == nil {
		page.Missing, err = a.missing(ctx, s, since, cut, around)
	}
	s.Pages = []Page{page}
	return err
}

// missing says why the page of a request since a time is not in parsed.
func (a *Asker) missing(ctx context.Context, s *URLStory, since int64, cut bool, around loop) (string, error) {
	fetched, err := a.logs.BoundsSince(ctx, a.names.Fetched, since, s.Partition)
	if err != nil {
		return "", err
	}
	start, err := a.start(ctx, a.names.Parsed, s.Partition)
	switch {
	case err != nil:
		return "", err
	case cut:
		return fmt.Sprintf("not among the %s of parsed that follow the request", progress.Bytes(searchBytes)), nil
	case around.unparsed(s.Partition, fetched[s.Partition].Start):
		return fmt.Sprintf("parse has not come to it: it is %s behind", plural(around.lag(topics.Parse, s.Partition), "record")), nil
	case start > 0:
		return "no longer in parsed, whose beginning was trimmed", nil
	}
	return "not in parsed", nil
}

// unparsed reports whether parse still has to read records of fetched from offset on.
func (l loop) unparsed(partition int32, offset int64) bool {
	return slices.ContainsFunc(l.status.Lags, func(lag status.Lag) bool {
		return lag.Stage == topics.Parse && lag.Partition == partition && lag.Behind() > 0 && lag.End > offset
	})
}
