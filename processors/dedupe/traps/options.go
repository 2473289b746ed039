package traps

import "fmt"

// Options say when URLs are held back. Judge reads them, and folds do not, so they may
// change while a crawl runs. Start from [DefaultOptions].
type Options struct {
	// Evidence is how many pages of a template must show what others show before it is
	// a trap, 12; 0: content makes no traps.
	Evidence int
	// URLsPerTemplate is how many URLs of a template are admitted, whatever they show.
	// The default is 10 million, because there are large honest sites. 0: no limit.
	URLsPerTemplate int64
	// PagesPerDomain is how many URLs of a registrable domain are admitted; 0: no
	// limit.
	PagesPerDomain int64
}

// DefaultOptions returns options that judge by content, with a very high limit for
// templates and no limit for domains.
func DefaultOptions() Options { return Options{Evidence: looksSame, URLsPerTemplate: 10_000_000} }

// MaxEvidence is the largest Evidence. A template does not always remember more pages.
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
