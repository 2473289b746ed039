// Package localweb is the local web of the benchmarks as command-line flags. The program that
// serves it and the program that judges by it build the same web.
package localweb

import (
	"flag"
	"iter"

	"github.com/weftcrawl/weft/test/webserver"
)

// Web is a site that knows its own pages and what its robots.txt denies.
type Web interface {
	webserver.Site
	Pages() iter.Seq2[string, string]
	Denied(domain, path string) bool
}

// Spec says which web to build.
type Spec struct {
	Pages, Domains int
	Seed           uint64
	// The mean KiB of a generated page, and its links; 0: the defaults of package webserver.
	KiB, Links int
	// Dir of real documents to serve instead of a generated web.
	Dir string
	// Deny is a path prefix that robots.txt denies, with Dir.
	Deny string
	// Every 10th page or so links to what is denied, missing, or moved.
	Rough bool
	// Only the first domain is a seed. The root page of each domain links to those of eight
	// others, so that a crawl discovers all domains on its way.
	Young bool
	// Responses are compressed for clients that accept gzip.
	Gzip bool
}

// Register adds the flags of a spec, with s as defaults.
func (s *Spec) Register(f *flag.FlagSet) {
	f.IntVar(&s.Pages, "pages", s.Pages, "`pages` of the generated web")
	f.IntVar(&s.Domains, "domains", s.Domains, "`domains` of the web")
	f.Uint64Var(&s.Seed, "seed", s.Seed, "`seed` of the generated web")
	f.IntVar(&s.KiB, "page-kib", s.KiB, "`KiB` of a generated page in the mean; 0: 30")
	f.IntVar(&s.Links, "links", s.Links, "`links` of a generated page in the mean; 0: 40")
	f.StringVar(&s.Dir, "dir", s.Dir, "serve this `directory` on every domain instead of a generated web")
	f.StringVar(&s.Deny, "deny", s.Deny, "path `prefix` that robots.txt denies, with -dir")
	f.BoolVar(&s.Rough, "rough", s.Rough, "some links are denied by robots.txt, missing, or redirect")
	f.BoolVar(&s.Young, "young", s.Young, "only the first domain of a generated web is a seed; the crawl discovers the others")
	f.BoolVar(&s.Gzip, "gzip", s.Gzip, "compress responses for clients that accept gzip")
}

// Args are the flags that Register reads s from.
func (s Spec) Args() (args []string) {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	s.Register(f)
	f.VisitAll(func(one *flag.Flag) { args = append(args, "-"+one.Name+"="+one.Value.String()) })
	return args
}

// Web builds what the spec describes.
func (s *Spec) Web() (Web, error) {
	if s.Dir != "" {
		o := webserver.TreeOptions{Dir: s.Dir, Domains: s.Domains, Deny: s.Deny}
		if s.Deny != "" {
			o.Robots = "User-agent: *\nDisallow: " + s.Deny + "\n"
		}
		return webserver.NewTree(o)
	}
	o := webserver.Options{Seed: s.Seed, Pages: s.Pages, Domains: s.Domains, CrossLinks: 0.05, MedianBytes: s.KiB << 9, MeanBytes: s.KiB << 10, Links: s.Links, LinkedRoots: s.Young}
	if s.Rough {
		o.DeniedEvery, o.ErrorEvery, o.RedirectEvery = 10, 11, 12
	}
	return webserver.NewGenerated(o)
}
