package ledger

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Rendezvous assigns partitions, in all topics alike, to members. Each partition
// has a home: the member of highest random weight (Thaler and Ravishankar, 1998)
// with bounded loads (after Mirrokni, Thorup and Zadimoghaddam, 2016): the
// heaviest pairs of member and partition come first, and no member gets more than
// an even share. Weights are of the stable names that members send as user data,
// so that homes are where local states are, and the same in every group: a
// process that runs all stages has the same partitions in each.
//
// A partition stays with its owner as long as shares are even. Otherwise partitions that are
// not at home move first. So a member that comes back gets what it had, and nothing else moves.
//
// It is cooperative (KIP-429): a partition goes to another member only after
// its owner gave it up, and an owner goes on meanwhile.
//
// It implements kgo.GroupBalancer.
type Rendezvous struct {
	// Member is the stable name of this process.
	Member string
}

// ProtocolName identifies the strategy in the group protocol.
func (Rendezvous) ProtocolName() string { return "weft-rendezvous-cooperative" }

// IsCooperative returns true: an owner goes on until it gives a partition up (KIP-429).
func (Rendezvous) IsCooperative() bool { return true }

// JoinGroupMetadata is what this member tells the member that balances: its name, and what it
// owns.
func (r Rendezvous) JoinGroupMetadata(topics []string, current map[string][]int32, generation int32) []byte {
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Version, meta.Topics, meta.Generation, meta.UserData = 3, topics, generation, []byte(r.Member)
	for topic, partitions := range current {
		owned := kmsg.NewConsumerMemberMetadataOwnedPartition()
		owned.Topic, owned.Partitions = topic, partitions
		meta.OwnedPartitions = append(meta.OwnedPartitions, owned)
	}
	slices.SortFunc(meta.OwnedPartitions, func(a, b kmsg.ConsumerMemberMetadataOwnedPartition) int {
		return cmp.Compare(a.Topic, b.Topic)
	})
	return meta.AppendTo(nil)
}

// ParseSyncAssignment returns what this member was assigned.
func (Rendezvous) ParseSyncAssignment(assignment []byte) (map[string][]int32, error) {
	return kgo.ParseConsumerSyncAssignment(assignment)
}

// MemberBalancer returns what balances these members.
func (r Rendezvous) MemberBalancer(members []kmsg.JoinGroupResponseMember) (kgo.GroupMemberBalancer, map[string]struct{}, error) {
	b, err := kgo.NewConsumerBalancer(r, members)
	return b, b.MemberTopics(), err
}

// Balance assigns the partitions of topics, whose numbers are given, to members.
func (Rendezvous) Balance(b *kgo.ConsumerBalancer, topics map[string]int32) kgo.IntoSyncAssignment {
	names, owners, since := map[string]string{}, map[int32]string{}, map[int32]int32{}
	b.EachMember(func(member *kmsg.JoinGroupResponseMember, meta *kmsg.ConsumerMemberMetadata) {
		names[member.MemberID] = string(meta.UserData)
		for _, owned := range meta.OwnedPartitions {
			for _, p := range owned.Partitions {
				// A member that missed a generation may claim what it does not own.
				if _, claimed := owners[p]; !claimed || meta.Generation > since[p] {
					owners[p], since[p] = member.MemberID, meta.Generation
				}
			}
		}
	})
	var most int32
	for _, partitions := range topics {
		most = max(most, partitions)
	}
	owners = share(names, owners, most)
	plan := b.NewPlan()
	b.EachMember(func(member *kmsg.JoinGroupResponseMember, meta *kmsg.ConsumerMemberMetadata) {
		for _, topic := range meta.Topics {
			for p := range topics[topic] {
				if owners[p] == member.MemberID {
					plan.AddPartition(member, topic, p)
				}
			}
		}
	})
	plan.AdjustCooperative(b)
	return plan
}

// share returns the owner of each partition from 0 on; names are the members' by
// their ids, and owners those that partitions have. Two members' numbers of
// partitions differ by one at most.
func share(names map[string]string, owners map[int32]string, partitions int32) map[int32]string {
	pairs := ranked(names, partitions)
	homes, all := newShares(names, partitions), func(pair) bool { return true }
	homes.give(pairs, all)
	shares := newShares(names, partitions)
	for _, these := range []func(pair) bool{
		func(c pair) bool { return owners[c.partition] == c.member && homes.owner[c.partition] == c.member },
		func(c pair) bool { return owners[c.partition] == c.member },
		func(c pair) bool { return homes.owner[c.partition] == c.member },
		all,
	} {
		shares.give(pairs, these)
	}
	return shares.owner
}

// pair is a member that may have a partition.
type pair struct {
	member    string
	partition int32
	weight    uint64
}

// ranked are all pairs, the heaviest first.
func ranked(names map[string]string, partitions int32) []pair {
	pairs := make([]pair, 0, len(names)*int(partitions))
	for id, name := range names {
		for p := range partitions {
			pairs = append(pairs, pair{id, p, weight(name, p)})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		// Ids are random and decide only between members of one name.
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.member, b.member), cmp.Compare(a.partition, b.partition))
	})
	return pairs
}

// shares are even: no member has more than even partitions, except extra members, which have one
// more.
type shares struct {
	owner       map[int32]string
	load        map[string]int
	even, extra int
}

func newShares(names map[string]string, partitions int32) *shares {
	even := int(partitions) / max(len(names), 1)
	return &shares{map[int32]string{}, map[string]int{}, even, int(partitions) - even*len(names)}
}

// give assigns partitions without an owner, by the permitted pairs in their order, as long as
// shares are even.
func (s *shares) give(pairs []pair, may func(pair) bool) {
	for _, c := range pairs {
		load := s.load[c.member]
		if _, owned := s.owner[c.partition]; owned || load > s.even || load == s.even && s.extra == 0 || !may(c) {
			continue
		}
		if load == s.even {
			s.extra--
		}
		s.owner[c.partition] = c.member
		s.load[c.member]++
	}
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
