package ledger

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/IBM/sarama"
)

// Rendezvous assigns partitions, in all topics alike, to members by highest
// random weight (Thaler and Ravishankar, 1998) with bounded loads (after
// Mirrokni, Thorup and Zadimoghaddam, 2016): the heaviest pairs of member and
// partition come first, and no member gets more than an even share. Weights
// are of the stable names that members send as user data, so that a restart
// moves no partition, and one member more or less moves hardly more than its
// share: local states stay useful.
type Rendezvous struct{}

// Name identifies the strategy in the group protocol.
func (Rendezvous) Name() string { return "weft-rendezvous" }

// Plan assigns the partitions of topics to members.
func (Rendezvous) Plan(members map[string]sarama.ConsumerGroupMemberMetadata, topics map[string][]int32) (sarama.BalanceStrategyPlan, error) {
	names := map[string]string{}
	for id, member := range members {
		names[id] = string(member.UserData)
	}
	partitions := map[int32]bool{}
	for _, numbers := range topics {
		for _, p := range numbers {
			partitions[p] = true
		}
	}
	owners := share(names, partitions)
	plan := make(sarama.BalanceStrategyPlan, len(members))
	for topic, numbers := range topics {
		for _, p := range numbers {
			plan.Add(owners[p], topic, p)
		}
	}
	return plan, nil
}

// AssignmentData returns nothing: members keep their own names.
func (Rendezvous) AssignmentData(string, map[string][]int32, int32) ([]byte, error) {
	return nil, nil
}

// share returns the owner of each partition; names are the members' by their
// ids. Two members' numbers of partitions differ by one at most.
func share(names map[string]string, partitions map[int32]bool) map[int32]string {
	type pair struct {
		member    string
		partition int32
		weight    uint64
	}
	pairs := make([]pair, 0, len(names)*len(partitions))
	for id, name := range names {
		for p := range partitions {
			pairs = append(pairs, pair{id, p, weight(name, p)})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		// Ids are random and decide only between members of one name.
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.member, b.member), cmp.Compare(a.partition, b.partition))
	})
	var (
		owners = make(map[int32]string, len(partitions))
		load   = make(map[string]int, len(names))
		even   = len(partitions) / max(len(names), 1)
		extra  = len(partitions) - even*len(names) // members with one more
	)
	for _, c := range pairs {
		if _, owned := owners[c.partition]; owned || load[c.member] > even || load[c.member] == even && extra == 0 {
			continue
		}
		if load[c.member] == even {
			extra--
		}
		owners[c.partition] = c.member
		load[c.member]++
	}
	return owners
}

func weight(member string, partition int32) uint64 {
	h := fnv.New64a()
	h.Write([]byte(member + "/" + strconv.Itoa(int(partition))))
	// FNV's high bits hardly depend on the last bytes; mix them (Stafford 13).
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
