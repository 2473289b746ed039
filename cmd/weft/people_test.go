package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/topics"
)

// people takes each grant from the roles that are no stages, and gives it back,
// on the crawl "base".
func (g *guarded) people(t *testing.T) {
	works := map[string]func(t *testing.T, crawl string) string{
		"seed": g.worksOf("seed", []string{"seed", "http://127.0.0.1:1/more"}),
		"consume": func(t *testing.T, crawl string) string {
			return g.worksOf("consume", []string{"consume", "parsed", "-n", "1"})(t, crawl) + g.consumes(t, crawl)
		},
		"look": g.worksOf("look", []string{"status", "--interval", "0s"}, []string{"topics"}, []string{"verify"},
			[]string{"why"}, []string{"rejected"}, []string{"traps"}, []string{"consume", "fetched", "-n", "1"}),
		"control": g.controls,
		"replay":  g.worksOf("replay", []string{"rejected", "--replay"}),
	}
	for _, role := range topics.Loop("base").Roles() {
		work := works[role.Name]
		if work == nil {
			continue // a stage, or with a test of its own
		}
		for _, grant := range role.Grants {
			g.revoke(t, role.Name, grant)
			if said := work(t, "base"); !denied(said) {
				t.Errorf("%s without %v: nothing is denied:\n%s", role.Name, grant, said)
			}
			if err := g.grant(t.Context(), topics.Role{Name: role.Name, Grants: []topics.Grant{grant}}); err != nil {
				t.Fatal(err)
			}
		}
		if said := work(t, "base"); denied(said) {
			t.Errorf("%s with all its grants is denied something:\n%s", role.Name, said)
		}
	}
	g.lifts(t)
	g.trims(t)
	g.eachGrantOfCreate(t)
}

// worksOf returns what a role does, which returns what was said.
func (g *guarded) worksOf(role string, commands ...[]string) func(*testing.T, string) string {
	return func(t *testing.T, crawl string) string {
		var out said
		for _, args := range commands {
			g.weft(t.Context(), role, crawl, &out, args...)
		}
		return out.String()
	}
}

// consumes reads a page in a group.
func (g *guarded) consumes(t *testing.T, crawl string) string {
	access := kafka.At(g.Addrs()...)
	access.SASL = kafka.SASL{Mechanism: kafka.Plain, User: "consume", PasswordFile: g.password}
	client, err := kgo.NewClient(append(access.Options(),
		kgo.ConsumerGroup(crawl+".consumers-"+strings.ToLower(t.Name()[:4])), kgo.ConsumeTopics(topics.Loop(crawl).Parsed),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := client.PollFetches(ctx).Err(); err != nil {
		return err.Error()
	}
	return ""
}

// controls pauses, resumes and stops a crawl that runs.
func (g *guarded) controls(t *testing.T, crawl string) string {
	stages := g.run(t.Context(), crawl, t.TempDir(), everyStage())
	defer stages.stop()
	if !eventually(t.Context(), 30*time.Second, func() bool { return g.members(t, crawl) == len(topics.Stages()) }) {
		t.Error("the stages do not come up")
	}
	return g.worksOf("control", []string{"pause", "parse"}, []string{"resume"}, []string{"stop", "--drain"})(t, crawl)
}

// members is how many stages have a process.
func (g *guarded) members(t *testing.T, crawl string) (with int) {
	n := topics.Loop(crawl)
	for _, s := range topics.Stages() {
		described, err := g.super.DescribeGroups(t.Context(), n.Group(s))
		if err == nil && len(described[n.Group(s)].Members) > 0 {
			with++
		}
	}
	return with
}

// lifts lifts the traps of a crawl that holds pages back, and does not run
// meanwhile, so that they are there to be lifted again.
func (g *guarded) lifts(t *testing.T) {
	const crawl = "lifted"
	g.must(t, anybody, crawl, "crawl", "--seeds", g.seeds, "--data", t.TempDir(), "--max-pages-per-domain", "2",
		"--delay", "0s", "--allow-private", "--scope", "any", "--partitions", "1")
	role := roleOf(topics.Loop(crawl), "lift")
	if err := g.grant(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	if said := g.must(t, role.Name, crawl, "traps", "--lift-all"); !strings.Contains(said, "come back") {
		t.Errorf("nothing is lifted: %s", said)
	}
	for _, grant := range role.Grants {
		g.revoke(t, role.Name, grant)
		if said := g.worksOf(role.Name, []string{"traps", "--lift-all"})(t, crawl); !denied(said) {
			t.Errorf("lift without %v: nothing is denied:\n%s", grant, said)
		}
		if err := g.grant(t.Context(), topics.Role{Name: role.Name, Grants: []topics.Grant{grant}}); err != nil {
			t.Fatal(err)
		}
	}
}

// trims trims the ledgers of "base". What is trimmed cannot be trimmed again, and
// deduped is only when scheduled was: so their rights go away first, in turn.
func (g *guarded) trims(t *testing.T) {
	n := topics.Loop("base")
	trim := g.worksOf("trim", []string{"ledger", "trim", "--checkpoints", g.checkpoints})
	grants := []topics.Grant{
		{Operation: topics.MayDelete, On: topics.OfTopic, Name: n.Scheduled},
		{Operation: topics.MayDelete, On: topics.OfTopic, Name: n.Deduped},
	}
	for _, grant := range roleOf(n, "trim").Grants {
		if !slices.Contains(grants, grant) {
			grants = append(grants, grant)
		}
	}
	for _, grant := range grants {
		g.revoke(t, "trim", grant)
		if said := trim(t, "base"); !denied(said) {
			t.Errorf("trim without %v: nothing is denied:\n%s", grant, said)
		}
		if err := g.grant(t.Context(), topics.Role{Name: "trim", Grants: []topics.Grant{grant}}); err != nil {
			t.Fatal(err)
		}
	}
	if said := trim(t, "base"); denied(said) || strings.Contains(said, "kept") {
		t.Errorf("trim with all its grants:\n%s", said)
	}
}

func roleOf(n topics.Names, name string) topics.Role {
	roles := n.Roles()
	return roles[slices.IndexFunc(roles, func(r topics.Role) bool { return r.Name == name })]
}

// eachGrantOfCreate begins a crawl for each grant of that role, without it.
func (g *guarded) eachGrantOfCreate(t *testing.T) {
	for i := range roleOf(topics.Loop("any"), "create").Grants {
		crawl := fmt.Sprintf("fresh%d", i)
		role := roleOf(topics.Loop(crawl), "create")
		if err := g.grant(t.Context(), role, role.Grants[i]); err != nil {
			t.Fatal(err)
		}
		create := []string{"topics", "create", "--partitions", "1"}
		if said := g.worksOf("create", create, create)(t, crawl); !denied(said) {
			t.Errorf("create without %v: nothing is denied:\n%s", role.Grants[i], said)
		}
	}
}
