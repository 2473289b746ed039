package topics

// Role is a part that somebody plays in a crawl on a cluster, and what Kafka's
// authorizer has to allow for it: no less, and no more. Each stage is one, and
// so are the people who begin a crawl, look at it, and take its pages.
type Role struct {
	// Name is the stage's, or of one word.
	Name string
	// Does says in words what the role does.
	Does   string
	Grants []Grant
}

// Grant is one thing that a role may do.
type Grant struct {
	Operation Operation
	On        Resource
	// Name of the topic or group, or what its name begins with.
	Name     string
	Prefixed bool
}

// Operation is one of Kafka's. Each of the first three implies Describe.
type Operation string

// The operations that a crawl needs. Delete is to trim a log, but Kafka lets its
// holder delete the topic too.
const (
	MayRead            Operation = "Read"
	MayWrite           Operation = "Write"
	MayDelete          Operation = "Delete"
	MayCreate          Operation = "Create"
	MayDescribe        Operation = "Describe"
	MayDescribeConfigs Operation = "DescribeConfigs"
)

// Resource is what an operation is on.
type Resource string

// The resources of a crawl. It asks nothing of the cluster as a whole: who may
// write to a topic may write to it idempotently, and there are no transactions.
const (
	OfTopic Resource = "topic"
	OfGroup Resource = "group"
)

// Roles returns all roles of a crawl: the stages, in the order of the loop, and
// then the people.
func (n Names) Roles() []Role {
	roles := []Role{
		{
			Name: string(Normalize), Does: "weft run normalize, and the janitor that runs beside it",
			Grants: on(MayDelete, OfTopic, n.transient()...),
		},
		{Name: string(Dedupe), Does: "weft run dedupe"},
		{Name: string(Schedule), Does: "weft run schedule"},
		{Name: string(Fetch), Does: "weft run fetch"},
		{Name: string(Parse), Does: "weft run parse"},
	}
	for i, s := range Stages() {
		roles[i].Grants = append(n.stage(s), roles[i].Grants...)
	}
	everything := n.Crawl + "."
	look := []Grant{{MayRead, OfTopic, everything, true}, {MayDescribe, OfGroup, everything, true}}
	return append(
		roles,
		Role{
			Name: "create", Does: "weft topics create",
			Grants: []Grant{
				{MayCreate, OfTopic, everything, true},
				{MayDescribe, OfTopic, everything, true},
				{MayDescribeConfigs, OfTopic, everything, true},
				{MayRead, OfTopic, n.Config, false},
				{MayWrite, OfTopic, n.Config, false},
			},
		},
		Role{
			Name: "crawl", Does: "weft crawl --brokers: all stages, the files of pages and WARC, and create",
			Grants: append(
				[]Grant{
					{MayCreate, OfTopic, everything, true},
					{MayDescribeConfigs, OfTopic, everything, true},
					{MayRead, OfTopic, everything, true},
					{MayWrite, OfTopic, everything, true},
					{MayRead, OfGroup, everything, true},
				},
				on(MayDelete, OfTopic, n.transient()...)...,
			),
		},
		Role{Name: "seed", Does: "weft seed, and every other producer of seeds", Grants: on(MayWrite, OfTopic, n.Seeds)},
		Role{
			Name: "consume", Does: "weft consume parsed, and consumers of pages in a group of a name that begins like this",
			Grants: []Grant{{MayRead, OfTopic, n.Parsed, false}, {MayRead, OfGroup, n.Crawl + ".consumers", true}},
		},
		Role{Name: "look", Does: "weft status, topics, why, verify, rejected, traps, and consume of any topic", Grants: look},
		Role{
			Name: "control", Does: "weft pause, resume and stop",
			Grants: []Grant{
				{MayRead, OfTopic, n.Config, false},
				{MayWrite, OfTopic, n.Config, false},
				{MayRead, OfTopic, n.Scheduled, false}, // whether a drain has come to its end
				{MayDescribe, OfTopic, everything, true},
				{MayDescribe, OfGroup, everything, true},
			},
		},
		Role{
			Name: "replay", Does: "weft rejected --replay",
			Grants: append(on(MayRead, OfTopic, n.Rejected), on(MayWrite, OfTopic, n.transient()...)...),
		},
		Role{
			Name: "lift", Does: "weft traps --lift and --lift-all",
			Grants: append(
				on(MayRead, OfTopic, n.Config, n.Deduped),
				Grant{MayWrite, OfTopic, n.Normalized, false},
				Grant{MayDescribe, OfGroup, n.Group(Dedupe), false}, // how far dedupe is
			),
		},
		Role{
			Name: "trim", Does: "weft ledger trim",
			Grants: append(
				on(MayRead, OfTopic, n.Config, n.Deduped, n.Scheduled),
				Grant{MayDelete, OfTopic, n.Deduped, false},
				Grant{MayDelete, OfTopic, n.Scheduled, false},
				Grant{MayDescribe, OfGroup, n.Group(Schedule), false},
			),
		},
	)
}

// stage is what every process of a stage needs.
func (n Names) stage(s Stage) []Grant {
	reads := append([]string{n.Config}, n.Inputs(s)...)
	var writes []string
	if s != Fetch {
		writes = append(writes, n.Rejected) // fetch reads a ledger only, of which every record must be good
	}
	switch s {
	case Normalize:
		writes = append(writes, n.Normalized)
	case Dedupe:
		reads, writes = append(reads, n.Deduped), append(writes, n.Deduped)
	case Schedule:
		writes = append(writes, n.Scheduled)
	case Fetch:
		reads = append(reads, n.Fetched) // what a former owner fetched and did not report
		writes = append(writes, n.Fetched, n.Visited)
	case Parse:
		reads = append(reads, n.Parsed)   // what is there already, of which others may be duplicates
		reads = append(reads, n.Rejected) // which large bodies may be asked for again
		writes = append(writes, n.Parsed, n.Discovered)
	}
	if s != Fetch {
		reads = append(reads, n.Scheduled) // the gauges of the crawl, for the metrics
	}
	everything := n.Crawl + "."
	grants := append(on(MayRead, OfTopic, reads...), on(MayWrite, OfTopic, writes...)...)
	return append(
		grants,
		Grant{MayDescribe, OfTopic, everything, true},        // Check: the topics are there,
		Grant{MayDescribeConfigs, OfTopic, everything, true}, // and lose nothing
		Grant{MayRead, OfGroup, n.Group(s), false},
		Grant{MayRead, OfGroup, n.Troubles(), false},  // to tell its own
		Grant{MayDescribe, OfGroup, everything, true}, // how far the others are
	)
}

// transient are the topics that are kept until consumed.
func (n Names) transient() (names []string) {
	for _, t := range n.Topics() {
		if t.Kept == Consumed {
			names = append(names, t.Name)
		}
	}
	return names
}

// on grants one operation on each of these.
func on(o Operation, r Resource, names ...string) []Grant {
	grants := make([]Grant, len(names))
	for i, name := range names {
		grants[i] = Grant{o, r, name, false}
	}
	return grants
}
