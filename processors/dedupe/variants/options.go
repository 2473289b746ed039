package variants

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/internal/urls"
)

// Options are what a crawl's definition says about variants. Make them with
// NewOptions.
type Options struct {
	// Learn has rules of a site take URLs that it has shown itself.
	Learn bool
	// same are rules that hold whatever is shown, by the domain or host that they
	// are for; "" is for all.
	same map[string]Set
}

// NewOptions reads rules as people write them: "RULE", for all sites, or
// "RULE@HOST", for a host, or a domain with all hosts below.
func NewOptions(learn bool, same []string) (*Options, error) {
	o := &Options{Learn: learn, same: map[string]Set{}}
	for _, text := range same {
		name, host, _ := strings.Cut(text, "@")
		r, ok := Named(name)
		if !ok {
			return nil, fmt.Errorf("%q is not a rule; the rules are %s", name, strings.Join(Names(), ", "))
		}
		host = strings.TrimPrefix(strings.ToLower(host), www)
		if strings.ContainsAny(host, "/@ ") || strings.HasSuffix(text, "@") {
			return nil, fmt.Errorf("%q does not name a host or a domain behind @", text)
		}
		o.same[host] |= of(r)
	}
	for host := range o.same {
		all := o.below(host)
		if both := all & all.opposites(); both != 0 {
			return nil, fmt.Errorf("%s are opposites, and both are for %s", strings.Join(both.Names(), " and "), cmp.Or(host, "all sites"))
		}
	}
	return o, nil
}

// of are the rules for a URL.
func (o *Options) of(url, domain string) Set {
	if len(o.same) == 0 {
		return 0
	}
	return o.below(urls.WithoutPort(siteOf(url, domain)))
}

// below are the rules for all, for a host, and for each domain above it.
func (o *Options) below(host string) Set {
	rules := o.same[""]
	for host != "" {
		rules |= o.same[host]
		_, host, _ = strings.Cut(host, ".")
	}
	return rules
}
