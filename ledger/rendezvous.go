package ledger

import (
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/IBM/sarama"
)

// Rendezvous assigns each partition, in all topics alike, to the member that
// wins it by highest random weight (Thaler and Ravishankar, 1998), under the
// stable name that members send as user data: a restart moves no partition
// that need not move, so local states stay useful.
type Rendezvous struct{}

// Name identifies the strategy in the group protocol.
func (Rendezvous) Name() string { return "weft-rendezvous" }

// Plan assigns the partitions of topics to members.
func (Rendezvous) Plan(members map[string]sarama.ConsumerGroupMemberMetadata, topics map[string][]int32) (sarama.BalanceStrategyPlan, error) {
	ids := make([]string, 0, len(members))
	for id := range members {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	plan := make(sarama.BalanceStrategyPlan, len(members))
	for topic, partitions := range topics {
		for _, p := range partitions {
			var winner string
			var best uint64
			for _, id := range ids {
				if w := weight(string(members[id].UserData), p); winner == "" || w > best {
					winner, best = id, w
				}
			}
			plan.Add(winner, topic, p)
		}
	}
	return plan, nil
}

// AssignmentData returns nothing: members keep their own names.
func (Rendezvous) AssignmentData(string, map[string][]int32, int32) ([]byte, error) {
	return nil, nil
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
