package scope

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/urls"
)

const (
	// TooManySegments is a path of more segments than the limit.
	TooManySegments Refusal = "too_many_segments"
	// RepeatedSegments is a path that goes in circles, as relative links that
	// resolve below themselves make it: /a/b/a/b/a/b/a/b.
	RepeatedSegments Refusal = "repeated_segments"
	// TooManyParams is a query of more parameters than the limit.
	TooManyParams Refusal = "too_many_params"
	// RepeatedParams is a query that says the same over and over.
	RepeatedParams Refusal = "repeated_params"
)

// NoLimit as one of the Limits sets none.
const NoLimit = -1

// Limits bound the shape of URLs that links lead to. What lies beyond is hardly
// ever a page, and often one of endlessly many: Heritrix refuses such URLs by
// its rules PathologicalPath and TooManyPathSegments, with bounds of 2 and 20.
// A zero field is the default, NoLimit none.
type Limits struct {
	// Segments of a path, 20.
	Segments int
	// SegmentRepeats is how often a sequence of segments may stand in a row, 3.
	// Sequences of nothing but digits do not count: paths are sharded by them
	// (/1/1/1/1.jpg).
	SegmentRepeats int
	// Params of a query, 24.
	Params int
	// ParamRepeats is how often a parameter may stand in a query with the same
	// value, 3. Names may stand as often as Params permits: that is how lists
	// are written.
	ParamRepeats int
}

// DefaultLimits are those of the zero value, spelled out.
func DefaultLimits() Limits {
	return Limits{Segments: 20, SegmentRepeats: 3, Params: 24, ParamRepeats: 3}
}

// WithDefaults returns l with its zero fields set.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Segments, d.Segments}, {&l.SegmentRepeats, d.SegmentRepeats}, {&l.Params, d.Params}, {&l.ParamRepeats, d.ParamRepeats},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return l
}

// Validate says which limit is no number to count to.
func (l Limits) Validate() error {
	for _, f := range []struct {
		name  string
		value int
	}{
		{"path segments", l.Segments}, {"repeats of path segments", l.SegmentRepeats},
		{"parameters", l.Params}, {"repeats of parameters", l.ParamRepeats},
	} {
		if f.value < NoLimit {
			return fmt.Errorf("limit of %s, %d, is negative; %d means none", f.name, f.value, NoLimit)
		}
	}
	return nil
}

// judge tells which limit a URL is beyond. Most URLs have neither segments nor
// parameters enough to be looked at twice.
func (l Limits) judge(u urls.URL) Refusal {
	path, query := u.PathAndQuery(), ""
	if i := strings.IndexByte(path, '?'); i >= 0 {
		path, query = path[:i], path[i+1:]
	}
	if n := strings.Count(path, "/"); n > l.least() {
		switch {
		case beyond(n, l.Segments):
			return TooManySegments
		case l.SegmentRepeats != NoLimit && circles(strings.Split(path[1:], "/"), l.SegmentRepeats):
			return RepeatedSegments
		}
	}
	if n := strings.Count(query, "&"); n > 0 {
		switch {
		case beyond(n+1, l.Params):
			return TooManyParams
		case n+1 > l.ParamRepeats && l.ParamRepeats != NoLimit && repeats(strings.Split(query, "&"), l.ParamRepeats):
			return RepeatedParams
		}
	}
	return Accepted
}

// least is how many segments no limit of paths can be beyond.
func (l Limits) least() int {
	least := l.SegmentRepeats
	if least == NoLimit || l.Segments != NoLimit && l.Segments < least {
		least = l.Segments
	}
	return max(least, 0)
}

func beyond(n, limit int) bool { return limit != NoLimit && n > limit }

// circles tells whether a sequence of segments stands more than so many times in
// a row. Only the first 64 segments are looked at.
func circles(segments []string, most int) bool {
	segments = segments[:min(len(segments), 64)]
	for period := 1; period*(most+1) <= len(segments); period++ {
		same, digits := 0, true
		for i := period; i < len(segments); i++ {
			if segments[i] != segments[i-period] {
				same, digits = 0, true
				continue
			}
			same++
			digits = digits && isDigits(segments[i])
			if same >= period*most && !digits {
				return true
			}
		}
	}
	return false
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// repeats tells whether a parameter stands more than so many times.
func repeats(params []string, most int) bool {
	slices.Sort(params)
	run := 1
	for i := 1; i < len(params); i++ {
		if params[i] != params[i-1] {
			run = 0
		}
		if run++; run > most {
			return true
		}
	}
	return false
}
