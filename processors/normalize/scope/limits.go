package scope

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/urls"
)

const (
	// TooManySegments is a path with more segments than the limit.
	TooManySegments Refusal = "too_many_segments"
	// RepeatedSegments is a path that repeats itself, such as /a/b/a/b/a/b/a/b. Relative
	// links that resolve below themselves make such paths.
	RepeatedSegments Refusal = "repeated_segments"
	// TooManyParams is a query with more parameters than the limit.
	TooManyParams Refusal = "too_many_params"
	// RepeatedParams is a query with the same parameter and value several times.
	RepeatedParams Refusal = "repeated_params"
)

// NoLimit as one of the Limits means that there is no limit.
const NoLimit = -1

// Limits bound the shape of URLs that links lead to. A URL beyond them is hardly ever a
// page, and often one of endlessly many. Heritrix refuses such URLs by its rules
// PathologicalPath and TooManyPathSegments, with bounds of 2 and 20. A field that is
// zero stands for its default.
type Limits struct {
	// Segments is how many segments a path may have; by default 20.
	Segments int
	// SegmentRepeats is how often a sequence of segments may come in a row; by default
	// 3. Sequences of digits only do not count: large collections of files are spread
	// over such folders (/1/1/1/1.jpg).
	SegmentRepeats int
	// Params is how many parameters a query may have; by default 24.
	Params int
	// ParamRepeats is how often a query may have a parameter with the same value; by
	// default 3. A name with different values may come as often as Params permits:
	// lists are written so.
	ParamRepeats int
}

// DefaultLimits are the limits that the zero value stands for.
func DefaultLimits() Limits {
	return Limits{Segments: 20, SegmentRepeats: 3, Params: 24, ParamRepeats: 3}
}

// WithDefaults returns l with its zero fields set.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		Segments: cmp.Or(l.Segments, d.Segments), SegmentRepeats: cmp.Or(l.SegmentRepeats, d.SegmentRepeats),
		Params: cmp.Or(l.Params, d.Params), ParamRepeats: cmp.Or(l.ParamRepeats, d.ParamRepeats),
	}
}

// Validate reports a limit that is out of range.
func (l Limits) Validate() error {
	for _, f := range []struct {
		name  string
		value int
	}{
		{"path segments", l.Segments}, {"repeats of path segments", l.SegmentRepeats},
		{"parameters", l.Params}, {"repeats of parameters", l.ParamRepeats},
	} {
		if f.value < NoLimit {
			return fmt.Errorf("limit of %s, %d, is negative; %d means no limit", f.name, f.value, NoLimit)
		}
	}
	return nil
}

// judge tells which limit a URL is beyond. Most URLs have so few segments and parameters
// that counting them is enough.
func (l Limits) judge(u urls.URL) Refusal {
	path, query, _ := strings.Cut(u.PathAndQuery(), "?")
	if n := strings.Count(path, "/"); n > l.least() {
		switch {
		case beyond(n, l.Segments):
			return TooManySegments
		case l.SegmentRepeats != NoLimit && repeatsSegments(strings.Split(path[1:], "/"), l.SegmentRepeats):
			return RepeatedSegments
		}
	}
	if n := strings.Count(query, "&"); n > 0 {
		switch {
		case beyond(n+1, l.Params):
			return TooManyParams
		case n+1 > l.ParamRepeats && l.ParamRepeats != NoLimit && repeatsParam(strings.Split(query, "&"), l.ParamRepeats):
			return RepeatedParams
		}
	}
	return Accepted
}

// least is how many segments a path may have under every limit.
func (l Limits) least() int {
	least := l.SegmentRepeats
	if least == NoLimit || l.Segments != NoLimit && l.Segments < least {
		least = l.Segments
	}
	return max(least, 0)
}

func beyond(n, limit int) bool { return limit != NoLimit && n > limit }

// repeatsSegments tells whether a sequence of segments comes more than most times in a
// row. Only the first 64 segments are looked at.
func repeatsSegments(segments []string, most int) bool {
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

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func repeatsParam(params []string, most int) bool {
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
