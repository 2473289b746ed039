package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
)

// Exchanges makes exchanges from an archive. It is safe for concurrent use.
type Exchanges struct {
	index     *kept.Index
	responses *httpclient.Restorer
}

// Open reads the indexes of an archive. options are those of the HTTP client that Exchanges stands
// for: they say how bodies are cut, and which are left out.
func Open(ctx context.Context, bucket blob.Bucket, options httpclient.Options) (*Exchanges, error) {
	index, err := kept.Load(ctx, bucket)
	if err != nil {
		return nil, err
	}
	return &Exchanges{index: index, responses: httpclient.NewRestorer(options)}, nil
}

// Check tells whether there is an archive, and does not read it. The error is kept.ErrEmpty if there is none.
func Check(ctx context.Context, bucket blob.Bucket) error {
	indexes, err := kept.Indexes(ctx, bucket)
	if err == nil && len(indexes) == 0 {
		err = fmt.Errorf("%w in %s", kept.ErrEmpty, bucket)
	}
	return err
}

// Len is the number of responses in the archive.
func (e *Exchanges) Len() int { return e.index.Len() }

// LookAhead does nothing: no name is looked up.
func (*Exchanges) LookAhead(context.Context, []string) {}

// LookUp returns no address, as for a connection that is there.
func (*Exchanges) LookUp(context.Context, string) (netip.Addr, *httpclient.Exchange) {
	return netip.Addr{}, nil
}

// Robots is Client.Robots of package httpclient.
func (e *Exchanges) Robots(ctx context.Context, r httpclient.Request, hop httpclient.Hop) []*httpclient.Exchange {
	return httpclient.FollowRobots(ctx, e.Do, r, hop)
}

// Do makes one exchange.
func (e *Exchanges) Do(ctx context.Context, r httpclient.Request) *httpclient.Exchange {
	began := time.Now()
	x := e.exchange(ctx, r)
	x.Started, x.Total = began, time.Since(began)
	return x
}

func (e *Exchanges) exchange(ctx context.Context, r httpclient.Request) *httpclient.Exchange {
	if r.Permit != nil && !r.Permit() {
		return failed(r, httpclient.ClassLeaseLost, httpclient.ErrLeaseLost)
	}
	found, err := e.best(ctx, r)
	switch {
	case errors.Is(context.Cause(ctx), httpclient.ErrLeaseLost):
		return failed(r, httpclient.ClassLeaseLost, httpclient.ErrLeaseLost)
	case ctx.Err() != nil:
		return failed(r, httpclient.ClassCanceled, ctx.Err())
	case errors.Is(err, errNotArchived):
		return failed(r, httpclient.ClassNotArchived, err)
	case err != nil:
		return failed(r, httpclient.ClassLocalError, err)
	}
	x := e.responses.Restore(ctx, r, found.Head, found.Payload)
	x.Recorded = found.Date
	x.Truncated = x.Truncated || found.Facts.Truncated
	if class := httpclient.Class(found.Facts.ErrorClass); class != httpclient.ClassNone {
		x.Class, x.Error = class, "so it was recorded"
	}
	if politeness.Judge(uint32(x.Status), string(x.Class)).Retry {
		x.Error = fmt.Sprintf("the archive has only failures of this URL, the last one is %s", cmp.Or(string(x.Class), strconv.Itoa(x.Status)))
		x.Class = httpclient.ClassArchivedFailure
	}
	return x
}

func failed(r httpclient.Request, class httpclient.Class, err error) *httpclient.Exchange {
	return &httpclient.Exchange{URL: r.URL, Class: class, Error: err.Error()}
}

// errNotArchived means that there is no response that can be read.
var errNotArchived = errors.New("the archive has no response of this URL")

// rank says how well a response answers a request. A greater rank is better.
type rank int

const (
	failure     rank = iota // after which a crawl tries again
	unchanged               // 304
	ofCheck                 // its body may have been left out
	settlesPage             // of a request of the same kind
)

func rankOf(r httpclient.Request, x kept.Exchange) rank {
	switch {
	case politeness.Judge(uint32(x.Status), x.Facts.ErrorClass).Retry:
		return failure
	case x.Status == http.StatusNotModified:
		return unchanged
	case x.Facts.Aside && r.Kind != httpclient.KindRobots:
		return ofCheck
	}
	return settlesPage
}

// isDamage tells whether a record, and not the archive, cannot be read.
func isDamage(err error) bool {
	return errors.Is(err, kept.ErrNone) || errors.Is(err, warc.ErrRecord) || errors.Is(err, kept.ErrNoPayload)
}

// best returns the best response to a request: of those of the best rank, the newest.
func (e *Exchanges) best(ctx context.Context, r httpclient.Request) (best kept.Exchange, err error) {
	top, why := rank(-1), errNotArchived
	for _, line := range slices.Backward(e.index.Lines(r.URL)) {
		x, err := e.index.Read(ctx, line)
		switch {
		case errors.Is(err, kept.ErrNone): // of another URL
		case isDamage(err):
			why = fmt.Errorf("%w that can be read: %w", errNotArchived, err)
		case err != nil:
			return kept.Exchange{}, err
		case x.Foreign:
			why = fmt.Errorf("%w that this version has written", errNotArchived)
		case rankOf(r, x) > top:
			best, top = x, rankOf(r, x)
		}
		if top == settlesPage {
			break
		}
	}
	if top >= 0 {
		return best, nil
	}
	if r.Kind != httpclient.KindRobots {
		if x, found, err := e.twin(ctx, r); found || err != nil {
			return x, err
		}
	}
	return kept.Exchange{}, why
}

// twin returns a page of another spelling of a URL: with the other scheme, or with or without www.
// Which of them a crawl keeps, if they have the same pages, depends on the order of its requests.
func (e *Exchanges) twin(ctx context.Context, r httpclient.Request) (x kept.Exchange, found bool, err error) {
	for _, spelling := range twins(r.URL) {
		for _, line := range slices.Backward(e.index.Lines(spelling)) {
			if status, _ := strconv.Atoi(line.Status); status/100 != 2 {
				continue // a redirect may lead to the URL that is asked for
			}
			x, err = e.index.Read(ctx, line)
			switch {
			case err == nil && !x.Foreign && rankOf(r, x) == settlesPage:
				return x, true, nil
			case err != nil && !isDamage(err):
				return kept.Exchange{}, false, err
			}
		}
	}
	return kept.Exchange{}, false, nil
}

// twins are the other spellings of a URL without a port.
func twins(url string) (all []string) {
	scheme, rest, _ := strings.Cut(url, "://")
	if host, _, _ := strings.Cut(rest, "/"); strings.Contains(host, ":") {
		return nil
	}
	other, www := map[string]string{"http": "https", "https": "http"}[scheme], "www."+rest
	if bare, ok := strings.CutPrefix(rest, "www."); ok {
		www = bare
	}
	return []string{other + "://" + rest, scheme + "://" + www, other + "://" + www}
}
