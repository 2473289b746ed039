package why

import (
	"io"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// codes are what the texts decide by, and words that they do not know.
var codes = []string{
	"", "word", "seed", "link", "probe", "in_force", "silent", "broken", "robots", "deep", "origin_failed",
	Admitted, Released, Attempted, Returned, Expired, PutOff, Withdrawn, Back, Recalled, Denied, string(Done), string(Unknown),
	frontier.ReasonFetched, frontier.ReasonNotModified, frontier.ReasonMissing, frontier.ReasonDisallowed, frontier.ReasonTooManyRules,
	frontier.ReasonBreaker, frontier.ReasonWithdrawn, string(frontier.Unasked), string(frontier.Asking), string(frontier.Referred),
	string(frontier.Waiting), string(frontier.Refused), string(frontier.InForce), "no_host", "not_crawlable_ftp",
}

// fill sets everything in a story that is exported.
func fill(r *rand.Rand, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		if r.IntN(3) > 0 {
			v.Set(reflect.ValueOf(noon.Add(time.Duration(r.IntN(200_000)-100_000) * time.Second)))
		}
	case v.CanInt():
		v.SetInt([]int64{0, 1, 2, 1000, 61_000, 5_000_000}[r.IntN(6)])
	case v.CanUint():
		v.SetUint([]uint64{0, 1, 2, 200, 301, 404}[r.IntN(6)])
	case v.CanFloat():
		v.SetFloat(r.Float64() * 100)
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.String:
		v.SetString(codes[r.IntN(len(codes))])
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), []int{0, 1, 2, 6, 7, 21}[r.IntN(6)], 21))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		counts := map[string]int64{}
		for range r.IntN(4) {
			counts[codes[r.IntN(len(codes))]] = r.Int64N(2000)
		}
		v.Set(reflect.ValueOf(counts))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(r, v.Field(i))
			}
		}
	}
}

// TestEveryStoryHasAText checks that the texts execute, whatever a story says: nothing else
// compares the names in them with the fields of the stories.
func TestEveryStoryHasAText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		here := clock{noon, time.UTC}
		url, domain, crawl := URLStory{clock: here}, DomainStory{clock: here}, CrawlStory{clock: here}
		for _, story := range []interface{ WriteText(io.Writer) error }{&url, &domain, &crawl} {
			fill(r, reflect.ValueOf(story).Elem())
		}
		url.State = rapid.SampledFrom([]string{
			StateRefused, StateUnknown, StateInTransit, StateDeduped, StateHeldBack, StateGivenUp, StateWithdrawn, StateQueued,
			StateRetry, StateOut, StateSettled, StateTrimmed,
		}).Draw(t, "state of the URL")
		url.complete()
		domain.State = rapid.SampledFrom([]string{
			StateUnknown, StateTrimmed, string(frontier.Empty), string(frontier.Out), string(frontier.Due),
		}).Draw(t, "state of the domain")
		summaries := [2]string{}
		var errs [5]error
		summaries[0], errs[0] = url.sentence(loop{})
		summaries[1], errs[1] = say(domainText(), domain.State, &domain)
		errs[2], errs[3], errs[4] = url.WriteText(io.Discard), domain.WriteText(io.Discard), crawl.WriteText(io.Discard)
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		if summaries[0] == "" || summaries[1] == "" {
			t.Fatalf("%s: %q, %s: %q", url.State, summaries[0], domain.State, summaries[1])
		}
	})
}

// complete adds the parts without which a story has no such state.
func (s *URLStory) complete() {
	s.Scope, s.Transit, s.Trap = &Scope{Rule: "host"}, &Transit{}, &Trap{}
	if s.History == nil {
		s.History = []Step{}
	}
	zero := uint32(0)
	s.History = append(s.History, Step{What: Attempted, Reason: "fetched", Attempt: &Attempt{At: noon, Status: 200}})
	for i := range s.History {
		s.History[i].Priority = &zero
	}
	if s.Kept == nil && s.State == StateGivenUp {
		s.Kept = &Kept{}
	}
	if s.Kept != nil && s.State == StateQueued && len(s.Kept.Rules) == 0 {
		s.Kept.Rules = []string{"slash"}
	}
	if s.WaitReason == nil {
		s.WaitReason = &WaitReason{}
	}
}
