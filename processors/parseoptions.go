package processors

import (
	"github.com/weftcrawl/weft/parse"
	"github.com/weftcrawl/weft/topics"
)

// ParseOptions are the options of the stage parse for a crawl.
func ParseOptions(d topics.Definition) parse.Options {
	opts := parse.DefaultOptions()
	opts.Agent = product(d)
	opts.HashBang = d.HashBang
	if len(d.FollowLinks) > 0 {
		opts.Follow = make([]parse.Kind, len(d.FollowLinks))
		for i, kind := range d.FollowLinks {
			opts.Follow[i] = parse.Kind(kind)
		}
	}
	if len(d.NoFollowRel) > 0 {
		opts.NoFollow = d.NoFollowRel
	}
	return opts
}
