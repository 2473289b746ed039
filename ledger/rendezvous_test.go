package ledger_test

import (
	"fmt"
	"testing"

	"github.com/IBM/sarama"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/ledger"
)

// Whoever the members are, each partition has one owner, the same in every
// topic; shares are even; and new ids of the same members move nothing.
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

// A member that joins takes its share, and little else moves.
func TestRendezvousMovesLittle(t *testing.T) {
	for members := 1; members < 8; members++ {
		var names []string
		for i := range members + 1 {
			names = append(names, fmt.Sprintf("crawler-%d", i))
		}
		const partitions = 64
		before, after := plan(t, names[:members], "a", partitions), plan(t, names, "a", partitions)
		moved := 0
		for p, owner := range after {
			if before[p] != owner {
				moved++
			}
		}
		if share := partitions / (members + 1); moved < share || moved > 2*share+1 {
			t.Errorf("member %d moved %d partitions where its share is %d", members+1, moved, share)
		}
	}
}

type fataler interface{ Fatalf(string, ...any) }

// plan returns the owners of the partitions of two topics, by name.
func plan(t fataler, names []string, run string, partitions int32) map[int32]string {
	members := map[string]sarama.ConsumerGroupMemberMetadata{}
	byID := map[string]string{}
	for i, name := range names {
		id := fmt.Sprintf("%s-%d", run, i)
		members[id] = sarama.ConsumerGroupMemberMetadata{UserData: []byte(name)}
		byID[id] = name
	}
	var numbers []int32
	for p := range partitions {
		numbers = append(numbers, p)
	}
	planned, err := ledger.Rendezvous{}.Plan(members, map[string][]int32{"deduped": numbers, "visited": numbers})
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	owners := map[int32]string{}
	for id, topics := range planned {
		for topic, numbers := range topics {
			for _, p := range numbers {
				if other, taken := owners[p]; taken && other != byID[id] {
					t.Fatalf("%s/%d belongs to %s as well as to %s", topic, p, other, byID[id])
				}
				owners[p] = byID[id]
			}
		}
		if len(topics["deduped"]) != len(topics["visited"]) {
			t.Fatalf("%s has %d and %d partitions of two topics", id, len(topics["deduped"]), len(topics["visited"]))
		}
	}
	if len(owners) != int(partitions) {
		t.Fatalf("%d of %d partitions have owners", len(owners), partitions)
	}
	return owners
}
