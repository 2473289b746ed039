package ledger_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/ledger"
)

// For any members, each partition has one owner, the same in every topic; shares are even; and new
// ids of the same members move nothing.
func TestRendezvousIsEvenAndSteady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,8}-[0-9]`), 1, 9, rapid.ID).Draw(t, "members")
		partitions := int32(rapid.IntRange(1, 64).Draw(t, "partitions"))

		owners := plan(t, names, "first", partitions)
		load := map[string]int{}
		for _, owner := range owners {
			load[owner]++
		}
		even := int(partitions) / len(names)
		for _, name := range names {
			if n := load[name]; n < even || n > even+1 {
				t.Fatalf("%s has %d of %d partitions among %d members", name, n, partitions, len(names))
			}
		}
		for p, owner := range plan(t, names, "second", partitions) {
			if owner != owners[p] {
				t.Fatalf("a restart moved %d from %s to %s", p, owners[p], owner)
			}
		}
	})
}

// A member that joins takes its share, and one that goes leaves it; nothing else moves. A
// member that comes back gets its former partitions.
func TestRendezvousMovesNoMore(t *testing.T) {
	for members := 1; members < 8; members++ {
		var names []string
		for i := range members + 1 {
			names = append(names, fmt.Sprintf("crawler-%d", i))
		}
		const partitions = 64
		// A partition that moves has no owner for a generation, and the next generation assigns it.
		rebalance := func(names []string, before map[int32]string) (after map[int32]string, moved int) {
			after = balanced(t, names, "a", partitions, balanced(t, names, "a", partitions, before))
			for p, owner := range after {
				if before[p] != owner {
					moved++
				}
			}
			return after, moved
		}
		few := plan(t, names[:members], "a", partitions)
		most := (partitions + members) / (members + 1)
		all, moved := rebalance(names, few)
		if moved > most {
			t.Errorf("member %d moved %d partitions where its share is %d", members+1, moved, most)
		}
		rest := maps.Clone(all)
		maps.DeleteFunc(rest, func(_ int32, owner string) bool { return owner == names[members] })
		orphans := partitions - len(rest)
		without, moved := rebalance(names[:members], rest)
		if moved > orphans+members { // even shares may want one of each
			t.Errorf("the death of one of %d, who had %d, moved %d partitions", members+1, orphans, moved)
		}
		if again, _ := rebalance(names, without); members > 1 {
			for p, owner := range again {
				if all[p] != owner && all[p] == names[members] {
					t.Errorf("with %d members partition %d did not come back", members+1, p)
				}
			}
		}
	}
}

// A partition that changes its owner has no owner for a generation: its owner has to give it up
// first. What stays is not touched.
func TestRendezvousIsCooperative(t *testing.T) {
	const partitions = 24
	before := plan(t, []string{"a", "b"}, "x", partitions)
	between := balanced(t, []string{"a", "b", "c"}, "x", partitions, before)
	for p, owner := range between {
		if owner != before[p] {
			t.Errorf("partition %d goes to %s before %s gave it up", p, owner, before[p])
		}
	}
	if given := partitions - len(between); given != partitions/3 {
		t.Errorf("%d partitions are given up for a share of %d", given, partitions/3)
	}
	after := balanced(t, []string{"a", "b", "c"}, "x", partitions, between)
	for p, owner := range after {
		if kept, ok := between[p]; ok && owner != kept || !ok && owner != "c" {
			t.Errorf("partition %d goes from %s to %s", p, before[p], owner)
		}
	}
}

type fataler interface{ Fatalf(string, ...any) }

// plan returns the owners of the partitions of two topics, by name. Each must have an owner.
func plan(t fataler, names []string, run string, partitions int32) map[int32]string {
	owners := balanced(t, names, run, partitions, nil)
	if len(owners) != int(partitions) {
		t.Fatalf("%d of %d partitions have owners", len(owners), partitions)
	}
	return owners
}

// balanced returns the owners of the partitions of two topics, by name, when
// those that have them are given, too.
func balanced(t fataler, names []string, run string, partitions int32, owned map[int32]string) map[int32]string {
	var members []kmsg.JoinGroupResponseMember
	byID := map[string]string{}
	for i, name := range names {
		member := kmsg.NewJoinGroupResponseMember()
		member.MemberID = fmt.Sprintf("%s-%d", run, i)
		current := map[string][]int32{}
		for p, owner := range owned {
			if owner == name {
				current["deduped"] = append(current["deduped"], p)
				current["visited"] = append(current["visited"], p)
			}
		}
		member.ProtocolMetadata = ledger.Rendezvous{Member: name}.JoinGroupMetadata([]string{"deduped", "visited"}, current, 1)
		members = append(members, member)
		byID[member.MemberID] = name
	}
	balancer, _, err := ledger.Rendezvous{}.MemberBalancer(members)
	if err != nil {
		t.Fatalf("members: %v", err)
	}
	assigned, err := balancer.(kgo.GroupMemberBalancerOrError).BalanceOrError(map[string]int32{"deduped": partitions, "visited": partitions})
	if err != nil {
		t.Fatalf("balance: %v", err)
	}
	owners := map[int32]string{}
	for _, member := range assigned.IntoSyncAssignment() {
		topics, err := ledger.Rendezvous{}.ParseSyncAssignment(member.MemberAssignment)
		if err != nil {
			t.Fatalf("assignment: %v", err)
		}
		if !slices.Equal(topics["deduped"], topics["visited"]) {
			t.Fatalf("%s has %v and %v of two topics", member.MemberID, topics["deduped"], topics["visited"])
		}
		for _, p := range topics["deduped"] {
			if other, taken := owners[p]; taken {
				t.Fatalf("%d belongs to %s as well as to %s", p, other, byID[member.MemberID])
			}
			owners[p] = byID[member.MemberID]
		}
	}
	return owners
}
