package why

import (
	"fmt"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/traps"
	"github.com/weftcrawl/weft/urls"
)

// Trap is what holds a URL back, in the words of "weft traps".
type Trap struct {
	Host     string `json:"host"`
	Template string `json:"template"`
	Reason   string `json:"reason"`
}

// text is the trap in a sentence.
func (t *Trap) text() string {
	return fmt.Sprintf("It is held back: trap %s at %s%s. To let it in: weft traps --lift '%s' '%s'",
		t.Reason, t.Host, t.Template, t.Host, t.Template)
}

// withdrawnText is the trap in a sentence about a URL that was queued before.
func (t *Trap) withdrawnText() string {
	return fmt.Sprintf("It was queued, and is withdrawn since it is clear what it is of: trap %s at %s%s. To let it out: weft traps --lift '%s' '%s'",
		t.Reason, t.Host, t.Template, t.Host, t.Template)
}

// shapes are refusals of URLs that look like no page, in words.
var shapes = map[scope.Refusal]string{
	scope.TooManySegments:  "its path has too many segments (--max-path-segments)",
	scope.RepeatedSegments: "its path goes in circles (--max-path-repeats)",
	scope.TooManyParams:    "its query has too many parameters (--max-params)",
	scope.RepeatedParams:   "its query says the same over and over (--max-param-repeats)",
	scope.TooManyRedirects: "too many redirects in a row lead to it",
}

// addParked notes the URLs that the last event held back.
func (f *finds) addParked(parked []*weftpb.Parked, also func(*weftpb.Target)) {
	for _, p := range parked {
		trap := &Trap{Host: p.Host, Template: traps.Template(p.Template), Reason: p.Reason}
		for _, group := range p.Groups {
			f.groups[group] = trap
		}
		for _, t := range p.Targets {
			f.add(t)
			f.held[urls.Fingerprint(t.Url)] = trap
			if also != nil {
				also(t)
			}
		}
	}
}

// release notes that URLs are let out of a trap. How they were found stays as it
// was, if that is known.
func (f *finds) release(targets []*weftpb.Target) {
	for _, t := range targets {
		print := urls.Fingerprint(t.Url)
		if _, known := f.byURL[print]; !known {
			f.add(t)
		}
		delete(f.held, print)
	}
}
