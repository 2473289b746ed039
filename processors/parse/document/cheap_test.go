package document

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCheap checks that a document that a stream finds cheap is not costly, and that it finds most
// pages cheap.
func TestCheap(t *testing.T) {
	r := newReader(t, nil)
	bodies := hostile(64 << 10)
	bodies["formatting that stays open"] = reopening("<p>", "<b a%d>", "</p>")
	bodies["many bodies"] = strings.Repeat("x", alwaysCheap) + strings.Repeat("<bodyx a>", maxRoots+1)
	for name, body := range bodies {
		if r.compare(soupInput(body)); r.streaming.needsTree == "" && r.streaming.cost.is([]byte(body)) && costly([]byte(body)) {
			t.Errorf("%s is costly", name)
		}
	}
	for name, body := range map[string]string{
		"a page": string(docPage()), "a comment": "a<!-- <div> < -->b", "a script": "a<script>if (a<c) '<a href=x>'</script>b", "signs": "a < b <",
		"equal elements": strings.Repeat(`<p>a <em class="x">b</em>`, 3000),
	} {
		if r.compare(soupInput(body)); !r.streaming.cost.is([]byte(body)) {
			t.Errorf("%s may be costly: %+v", name, r.streaming.cost)
		}
	}
	for _, body := range []string{"<!-- <b x='-->", "<script>'<a <b>'</script>", "<p title='<b>'>x", "<style><i"} {
		if r.compare(soupInput(body)); r.streaming.cost.is([]byte(body)) {
			t.Errorf("%s is cheap, although not every tag is seen", body)
		}
	}
}

// TestCheapIsABound compares it with survey.
func TestCheapIsABound(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	r := newReader(t, nil)
	equal := 0
	for range 20_000 {
		body := string(withEnds([]byte(tagSoup(random, 1+random.IntN(60))))) // as it is read
		if r.compare(soupInput(body)); r.streaming.needsTree != "" || !r.streaming.cost.is([]byte(body)) {
			continue
		}
		found, cost := survey([]byte(body), false), r.streaming.cost
		if found.reopened > cost.reopened || found.roots > cost.roots {
			t.Fatalf("seed %d: %+v, bound %+v:\n%q", seed, found, cost, body)
		}
		if found.reopened > 0 && found.reopened == cost.reopened {
			equal++
		}
	}
	if equal < 100 {
		t.Errorf("seed %d: only %d times equal", seed, equal)
	}
}
