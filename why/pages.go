package why

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

// Page is what became of a response that is a page.
type Page struct {
	// ID and Ref of its record in parsed; empty and nil when it was not found,
	// which Missing explains.
	ID      string    `json:"id,omitempty"`
	Ref     *Ref      `json:"ref,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Missing string    `json:"missing,omitempty"`
}

// clockSkew is how far the clocks of fetch and parse may differ.
const clockSkew = time.Minute

// page looks for the page of a request in parsed. The topic holds whole pages,
// so it is read from where the time of the request says.
func (a *Asker) page(ctx context.Context, l loop, url, domain string, attempt Attempt) (Page, error) {
	partition, since := a.partition(domain), attempt.At.Add(-clockSkew).UnixMilli()
	parsed, err := a.logs.BoundsSince(ctx, a.names.Parsed, since, partition)
	if err != nil {
		return Page{}, err
	}
	var page Page
	cut, err := a.search(ctx, a.names.Parsed, parsed, func(r *kgo.Record) (bool, error) {
		if string(r.Key) != url {
			return false, nil
		}
		var found struct{ ID string }
		if json.Unmarshal(r.Value, &found) != nil {
			return false, nil // another program wrote it
		}
		ref := a.ref(r)
		page = Page{ID: found.ID, Ref: &ref, At: r.Timestamp.UTC()}
		return true, nil
	})
	if err != nil || page.Ref != nil {
		return page, err
	}
	fetched, err := a.logs.BoundsSince(ctx, a.names.Fetched, since, partition)
	if err != nil {
		return page, err
	}
	start, err := a.start(ctx, a.names.Parsed, partition)
	if err != nil {
		return page, err
	}
	switch {
	case cut:
		page.Missing = fmt.Sprintf("not among the %s of parsed that follow the request", bytesText(searchBytes))
	case a.unparsed(l, partition, fetched[partition].Start):
		page.Missing = fmt.Sprintf("parse has not come to it: it is %s behind", plural(l.lag(topics.Parse, partition), "record"))
	case start > 0:
		page.Missing = "no longer in parsed, whose beginning was trimmed"
	default:
		page.Missing = "not in parsed"
	}
	return page, nil
}

// unparsed tells whether parse has yet to read records of fetched from offset
// on.
func (a *Asker) unparsed(l loop, partition int32, offset int64) bool {
	for _, lag := range l.status.Lags {
		if lag.Stage == topics.Parse && lag.Partition == partition {
			return lag.Behind() > 0 && lag.End > offset
		}
	}
	return false
}
