package traps

import "fmt"

// Options say when URLs are held back. They are asked when URLs are judged, not
// when events are folded: they may change while a crawl runs. The zero value
// does not validate; start from [DefaultOptions].
type Options struct {
	// Evidence is how many pages of a template have to show what others show
	// before it is a trap, 12; 0: content makes no traps.
	Evidence int
	// URLsPerTemplate is how many URLs of a template are admitted, whatever they
	// show; 10 million, since large sites are honest. 0: no limit.
	URLsPerTemplate int64
	// PagesPerDomain is how many URLs of a registrable domain are admitted; 0: no
	// limit.
	PagesPerDomain int64
}

// DefaultOptions judge by content, with a very high limit for templates and none
// for domains.
func DefaultOptions() Options { return Options{Evidence: looksSame, URLsPerTemplate: 10_000_000} }

// MaxEvidence is the most Evidence that can be asked for: more than that is not
// always remembered of a template.
const MaxEvidence = window / 2 * 7 / 8

// Validate names the first option that is out of bounds.
func (o Options) Validate() error {
	switch {
	case o.Evidence < 0 || o.Evidence > MaxEvidence:
		return fmt.Errorf("evidence of %d pages is not between 0 and %d", o.Evidence, MaxEvidence)
	case o.URLsPerTemplate < 0:
		return fmt.Errorf("limit of %d URLs of a template is negative", o.URLsPerTemplate)
	case o.PagesPerDomain < 0:
		return fmt.Errorf("limit of %d pages of a domain is negative", o.PagesPerDomain)
	}
	return nil
}
