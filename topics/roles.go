package topics

import "slices"

// Role is what a process or a person does in a crawl on a cluster, with the rights
// that Kafka's authorizer must give for it. It needs each of them, and no others.
// Each stage has a role, and so have people who begin a crawl, look at it, and
// consume its pages.
type Role struct {
	// Name is the stage's, or another word.
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

// Operation is an operation of Kafka. Each of the first three implies Describe.
type Operation string

// The operations that a crawl needs. Delete is for trimming a log, but in Kafka it
// permits to delete the topic, too.
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

// The resources of a crawl. It needs no rights on the cluster itself: the right to
// write to a topic includes idempotent writes, and there are no transactions.
const (
	OfTopic Resource = "topic"
	OfGroup Resource = "group"
)

// Roles returns all roles of a crawl: the stages, in the order of the loop, and
// then the people.
func (n Names) Roles() []Role {
	var roles []Role
	for _, s := range n.Steps() {
		if s.Kind != Sink { // a cluster has no sinks
			roles = append(roles, Role{Name: string(s.Stage), Does: "weft run " + string(s.Stage), Grants: n.stage(s)})
		}
	}
	roles[0].Does += ", and the janitor that runs beside it"
	roles[0].Grants = append(roles[0].Grants, on(MayDelete, OfTopic, n.transient()...)...)
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
				{MayDescribe, OfGroup, everything, true}, // whether a deleted crawl of this name still runs
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
			Name: "control", Does: "weft pause, resume and stop, and the settings of weft domain",
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

// stage is what each process of a stage needs.
func (n Names) stage(s Step) []Grant {
	reads := slices.Concat([]string{n.Config}, s.Inputs, s.Looks)
	writes := s.Outputs
	if s.Rejects() {
		writes = append([]string{n.Rejected}, writes...)
	}
	everything := n.Crawl + "."
	grants := append(on(MayRead, OfTopic, reads...), on(MayWrite, OfTopic, writes...)...)
	return append(
		grants,
		Grant{MayDescribe, OfTopic, everything, true},        // Check: the topics are there,
		Grant{MayDescribeConfigs, OfTopic, everything, true}, // and lose nothing
		Grant{MayRead, OfGroup, n.Group(s.Stage), false},
		Grant{MayRead, OfGroup, n.Troubles(), false},  // to tell its own
		Grant{MayDescribe, OfGroup, everything, true}, // how far the others are
	)
}

// transient are the topics that are kept until consumed.
func (n Names) transient() []string {
	return namesOf(slices.DeleteFunc(n.Topics(), func(t Topic) bool { return t.Kept != UntilConsumed }))
}

// on grants one operation on each of these.
func on(o Operation, r Resource, names ...string) []Grant {
	grants := make([]Grant, len(names))
	for i, name := range names {
		grants[i] = Grant{o, r, name, false}
	}
	return grants
}
