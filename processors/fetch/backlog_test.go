package fetch

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/internal/stage"
)

// No domain is asked while the bodies that are sent and neither settled nor begun come to twice the
// limit. A new domain with small bodies waits only for bodies of its kind. With an empty
// backlog no domain waits, and the backlog remembers no domain.
func TestBacklogIsFullAtItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 640 // 10 make a domain heavy
		b := NewBacklog(limit)
		type entry struct {
			offset int64
			sent   Sent
			state  reading
		}
		open := map[int32][]entry{}
		var sent []Sent
		var expected []Expected
		next := map[int32]int64{}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			p := rapid.Int32Range(0, 2).Draw(t, "partition")
			domain := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "domain")
			switch rapid.SampledFrom([]string{"send", "send", "expect", "arrive", "acknowledge", "acknowledge", "settle", "begin", "forget"}).Draw(t, "act") {
			case "send":
				sent = append(sent, b.Send(domain, rapid.SampledFrom([]int{0, 1, 9, 10, 300}).Draw(t, "bytes")))
			case "expect":
				expected = append(expected, b.Expect(domain))
			case "arrive":
				if len(expected) > 0 {
					b.Cancel(expected[0])
					expected = expected[1:]
				}
			case "acknowledge":
				if len(sent) == 0 {
					continue
				}
				e := entry{next[p], sent[0], unread}
				sent = sent[1:]
				next[p] += rapid.Int64Range(1, 3).Draw(t, "gap") // offsets of others lie between
				open[p] = append(open[p], e)
				b.Acknowledged(p, e.offset, e.sent)
			case "settle":
				to := rapid.Int64Range(0, next[p]).Draw(t, "commit")
				b.Settle(p, to)
				for len(open[p]) > 0 && open[p][0].offset < to {
					open[p] = open[p][1:]
				}
			case "begin": // or less than before: parse begins anew at its commit
				at := stage.Position{Next: rapid.Int64Range(0, next[p]).Draw(t, "begun")}
				for i, e := range open[p] {
					open[p][i].state = unread
					if e.offset < at.Next {
						open[p][i].state = begun
						if rapid.Bool().Draw(t, "slow") {
							open[p][i].state = inLane
							at.Slow = append(at.Slow, e.offset)
						}
					}
				}
				b.Begun(p, at)
			case "forget":
				b.Forget(p)
				delete(open, p)
			}
			var light, heavy, ahead int64
			slow := map[string]int{}
			count := func(s Sent) {
				if s.heavy {
					heavy += s.bytes
				} else {
					light += s.bytes
				}
			}
			for _, s := range sent {
				count(s)
			}
			for _, entries := range open {
				for _, e := range entries {
					switch e.state {
					case begun:
						ahead += e.sent.bytes
					case inLane:
						slow[e.sent.domain]++
						fallthrough
					case unread:
						count(e.sent)
					}
				}
			}
			for _, e := range expected {
				count(Sent{bytes: e.bytes, heavy: e.heavy})
			}
			for _, domain := range []string{"a", "b", "c"} {
				if got, want := b.Held(domain), slow[domain] >= mostSlow; got != want { // there are fewer than mostSlowBodies
					t.Fatalf("held is %v for a domain with %d bodies in the lane", got, slow[domain])
				}
			}
			both := light+heavy >= 2*limit || ahead >= mostAhead*limit
			if got, want := b.Full("new"), light >= limit || both; got != want {
				t.Fatalf("full for a new domain is %v with %d and %d bytes", got, light, heavy)
			}
			for domain := range b.last {
				if got, want := b.Full(domain), heavy >= limit || both; got != want {
					t.Fatalf("full for a heavy domain is %v with %d and %d bytes", got, light, heavy)
				}
			}
		}
		for _, s := range sent {
			b.Acknowledged(3, 0, s)
		}
		for p := range int32(4) {
			b.Settle(p, 1<<40)
		}
		for _, e := range expected {
			b.Cancel(e)
		}
		if b.light != 0 || b.heavy != 0 || b.ahead != 0 || len(b.domains)+len(b.slow)+b.slowBodies > 0 {
			t.Fatalf("%d, %d and %d bytes, and the domains %v, in an empty backlog", b.light, b.heavy, b.ahead, b.domains)
		}
	})
}

// What a domain's bodies are like is known for some time, and of so many
// domains.
func TestBacklogKnowsLargeBodies(t *testing.T) {
	const limit = 640
	b := NewBacklog(limit)
	b.Send("other", limit+10) // heavy domains have to wait
	settle := func(s Sent) {
		b.Acknowledged(0, 0, s)
		b.Settle(0, 1)
	}
	settle(b.Send("a", 35))
	for _, c := range []struct {
		bytes int
		full  bool
	}{{1, true}, {9, false}, {9, false}, {10, true}, {0, false}} {
		settle(b.Send("a", c.bytes))
		if full := b.Full("a"); full != c.full {
			t.Errorf("full is %v after a body of %d bytes", full, c.bytes)
		}
	}
	for n := range maxHeavy + 10 {
		settle(b.Send(fmt.Sprint(n), 10))
	}
	if len(b.last) != maxHeavy {
		t.Errorf("%d domains are known, want %d", len(b.last), maxHeavy)
	}
}

// Small pages make a domain wait like a large one when it has many of them in
// the backlog.
func TestBacklogOfManySmallPages(t *testing.T) {
	const limit = 640
	b := NewBacklog(limit)
	b.Send("large", limit)
	var a []Sent
	for !b.Full("a") {
		a = append(a, b.Send("a", 3))
	}
	if len(a) != 4 {
		t.Errorf("a domain with %d pages of 3 bytes has to wait", len(a))
	}
	if b.Full("b") {
		t.Error("and others, too")
	}
	b.Acknowledged(0, 0, a[0])
	b.Settle(0, 1)
	if b.Full("a") {
		t.Error("it waits although it has little")
	}
}

// Domains with files in the lane of parse wait when they have many, or when all domains together
// have many; other domains never do. What parse has begun and cannot commit stops all when it fills
// the disk.
func TestBacklogOfFilesInTheLane(t *testing.T) {
	const limit = 640
	b := NewBacklog(limit)
	var at stage.Position
	slow := func(domain string) {
		b.Acknowledged(0, at.Next, b.Send(domain, 1))
		at.Slow = append(at.Slow, at.Next)
		at.Next++
		b.Begun(0, at)
	}
	for n := range mostSlow {
		if b.Held("a") {
			t.Fatalf("held with %d files", n)
		}
		slow("a")
	}
	if !b.Held("a") || b.Held("b") {
		t.Error("a domain with many files is not held, or another is")
	}
	for n := mostSlow; n < mostSlowBodies; n++ {
		if slow(fmt.Sprint(n)); b.Held(fmt.Sprint(n)) != (n == mostSlowBodies-1) {
			t.Errorf("a domain with one of %d files: held is %v", n+1, b.Held(fmt.Sprint(n)))
		}
	}
	b.Acknowledged(0, at.Next, b.Send("b", mostAhead*limit))
	if !b.Full("new") {
		t.Error("not full with a body that parse has not begun")
	}
	b.Begun(0, stage.Position{Next: at.Next + 1, Slow: at.Slow})
	if !b.Full("new") {
		t.Error("not full with so much that waits for a commit")
	}
	b.Settle(0, at.Next+1)
	if b.Full("new") || b.Held("a") {
		t.Error("full or held after the commit")
	}
}
