package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// The bars.
const (
	leastPrecision = 0.98 // in each class of lengths
	leastFound     = 0.85
	mostCost       = 20 * time.Microsecond
)

// From isTrue on a verdict is true, below isFalse it is false. What is alike is to be
// found.
const isTrue, isFalse, alike = 0.7, 0.3, 0.9

// class are the near verdicts on pages of less than so many words.
type class struct {
	below              int
	yes, no, undecided int
}

func (c class) precision() float64 {
	if c.yes+c.no == 0 {
		return 1
	}
	return float64(c.yes) / float64(c.yes+c.no)
}

// report has the results. Pages without text count as none.
type report struct {
	pages, identical int
	classes          []class
	wrong            []string // examples
	withEarlier      int      // pages with an earlier page that is alike, and without one that has the same text
	found            int      // of withEarlier
	cost             cost
	bytes            int
}

// mostExamples of false verdicts are shown.
const mostExamples = 20

// assess compares the verdicts on pages with the sets of their words.
func assess(pages []page, sets [][]uint64) report {
	r := report{pages: len(pages)}
	for _, below := range []int{30, 100, 300, 1000, 3000, 10_000, 1 << 40} {
		r.classes = append(r.classes, class{below: below})
	}
	for i, p := range pages {
		r.bytes += len(p.text)
		if !p.verdict.Duplicate() {
			continue
		}
		if p.verdict.Distance == 0 {
			r.identical++
			continue
		}
		of, err := strconv.Atoi(p.verdict.ID)
		if err != nil {
			panic("an id that no page has: " + p.verdict.ID)
		}
		at := 0
		for p.words >= r.classes[at].below {
			at++
		}
		switch j := jaccard(sets[of], sets[i]); {
		case j >= isTrue:
			r.classes[at].yes++
		case j >= isFalse:
			r.classes[at].undecided++
		default:
			r.classes[at].no++
			if len(r.wrong) < mostExamples {
				r.wrong = append(r.wrong, fmt.Sprintf("%s is called near to %s, and J is %.2f", p.url, p.verdict.URL, j))
			}
		}
	}
	counted := map[int]bool{}
	pairs(sets, alike, func(_, later int, _ float64) {
		v := pages[later].verdict
		if counted[later] || v.Duplicate() && v.Distance == 0 {
			return
		}
		counted[later] = true
		r.withEarlier++
		if v.Duplicate() {
			r.found++
		}
	})
	return r
}

func (r report) sum() (all class) {
	for _, c := range r.classes {
		all.yes, all.no, all.undecided = all.yes+c.yes, all.no+c.no, all.undecided+c.undecided
	}
	return all
}

func (r report) share() float64 { return float64(r.found) / float64(max(r.withEarlier, 1)) }

func (r report) print(out io.Writer) {
	all := r.sum()
	w := func(format string, a ...any) { _, _ = fmt.Fprintf(out, format+"\n", a...) }
	w("%d pages, %.1f KiB of text each; %d have the text of an earlier one", r.pages, float64(r.bytes)/float64(r.pages)/1024, r.identical)
	w("near: %d, of which true %d, false %d, undecided %d; false of 10,000 pages: %.2f",
		all.yes+all.no+all.undecided, all.yes, all.no, all.undecided, 10_000*float64(all.no)/float64(r.pages))
	least := 0
	for _, c := range r.classes {
		w("  %6d words and more: %5d true, %3d false, %4d undecided: precision %.2f %%", least, c.yes, c.no, c.undecided, 100*c.precision())
		least = c.below
	}
	w("found: %d of %d pages with an earlier one at J >= %.1f, %.1f %%", r.found, r.withEarlier, alike, 100*r.share())
	w("cost a page: %v for the fingerprint (%.2f µs a KiB), %v for the judgement", r.cost.fingerprint,
		float64(r.cost.fingerprint.Nanoseconds())*float64(r.pages)*1.024/float64(r.bytes), r.cost.judgement)
	for _, example := range r.wrong {
		w("false: %s", example)
	}
}

func (r report) missed() error {
	var errs []error
	least := 0
	for _, c := range r.classes {
		if c.precision() < leastPrecision {
			errs = append(errs, fmt.Errorf("precision from %d words on is %.4f, below %.2f", least, c.precision(), leastPrecision))
		}
		least = c.below
	}
	if r.share() < leastFound {
		errs = append(errs, fmt.Errorf("%.4f are found, less than %.2f", r.share(), leastFound))
	}
	if r.cost.judgement > mostCost {
		errs = append(errs, fmt.Errorf("a judgement takes %v, more than %v", r.cost.judgement, mostCost))
	}
	return errors.Join(errs...)
}
