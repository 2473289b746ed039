package verify

import (
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/verify/accesslog"
)

// Options say what is verified.
type Options struct {
	// Crawl is the crawl's name; Client are the options that reach its brokers.
	Crawl  string
	Client []kgo.Opt
	// Skew is how far apart the clocks of fetchers may be, see the package's
	// documentation.
	Skew time.Duration
	// Examples is how many violations of each kind are listed; all are counted.
	Examples int
	// Log is a web server's own log, nil for none.
	Log *Log
}

// Log says where a web server's log is and how it is read.
type Log struct {
	// Files, in any order; those whose names end with .gz are unpacked.
	Files  []string
	Format accesslog.Format
	// Host of the lines that name none.
	Host string
	// Agent is the product token of the requests that count; empty: the
	// crawl's.
	Agent string
	// Tolerance replaces the format's own when it is not negative.
	Tolerance time.Duration
}

// DefaultOptions are of a crawl named crawl, without a log.
func DefaultOptions(crawl string) Options { return Options{Crawl: crawl, Examples: 20} }

// Validate reports the first option that cannot work.
func (o Options) Validate() error {
	if err := topics.CheckCrawl(o.Crawl); err != nil {
		return err
	}
	switch {
	case o.Skew < 0:
		return fmt.Errorf("clocks that are %v apart", o.Skew)
	case o.Examples < 1:
		return errors.New("not one example of a violation is to be listed")
	case o.Log == nil:
		return nil
	case len(o.Log.Files) == 0 || o.Log.Format.Name == "":
		return errors.New("an access log needs a file and a format")
	}
	return nil
}
