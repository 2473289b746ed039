package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/inspect/status"
	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/internal/trouble"
	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/topics"
)

// Kafka's own authorizer allows each role what topics.Names.Roles says, and a crawl works in
// which every stage and every other process is a user with only these rights. Whatever is taken
// away is missed, and stages can write to no topic but their own.
func TestRoles(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a broker for itself, and many crawls")
	}
	g := startGuarded(t)
	g.wholeCrawl(t)
	t.Run("commands", g.commands)
	t.Run("people", g.people)
	t.Run("foreign topics", g.foreignTopics)
	t.Run("each grant", g.eachGrant)
}

// wholeCrawl crawls the web as "base", each stage as a user, and then once more
// so that there are two checkpoints.
func (g *guarded) wholeCrawl(t *testing.T) {
	for _, role := range topics.Loop("base").Roles() {
		if err := g.grant(t.Context(), role); err != nil {
			t.Fatal(err)
		}
	}
	create := []string{"topics", "create", "--partitions", "1", "--delay", "0s", "--allow-private", "--scope", "any"}
	g.must(t, "create", "base", create...)
	g.must(t, "create", "base", create...)
	if err := g.garbage(t.Context(), "base"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	g.checkpoints = filepath.Join(dir, "checkpoints")
	for _, seeds := range []string{g.seeds, "http://127.0.0.1:1/none"} {
		stages := g.run(t.Context(), "base", dir, everyStage(), "--checkpoints", g.checkpoints)
		g.must(t, "seed", "base", "seed", seeds)
		all := eventually(t.Context(), time.Minute, func() bool {
			return g.members(t, "base") == len(topics.Stages()) && strings.Count(g.must(t, "consume", "base", "consume", "parsed"), "\n") >= pagesOfGuarded
		})
		g.must(t, "control", "base", "stop", "--drain")
		stages.wait.Wait()
		for role, out := range stages.said {
			if denied(out.String()) || !all {
				t.Errorf("%s says:\n%s", role, out)
			}
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// commands compares the output of weft topics acls with the list, by way of Kafka's own tool.
func (g *guarded) commands(t *testing.T) {
	kafkaserver.Need(t, kafkaserver.Older) // whose jars have the tool
	dir := t.TempDir()
	script := filepath.Join(dir, "kafka-acls.sh")
	text := "#!/bin/sh\nexec java -Xmx64m -XX:TieredStopAtLevel=1 -cp '" + kafkaJars(t) + "' kafka.admin.AclCommand \"$@\"\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "admin.properties"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var printed said
	if code := command(t.Context(), []string{"topics", "acls", "consume", "--crawl", "news", "--principal-prefix", "User:CN=news-"},
		streams{strings.NewReader(""), &printed, &printed}, realEngine()); code != exitDone {
		t.Fatal(printed.String())
	}
	shell := exec.CommandContext(t.Context(), "sh", "-e")
	shell.Stdin = strings.NewReader(printed.String())
	shell.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "BROKERS="+g.Inside()[0], "ADMIN="+filepath.Join(dir, "admin.properties"))
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, &printed)
	}
	roles := topics.Loop("news").Roles()
	role := roles[slices.IndexFunc(roles, func(r topics.Role) bool { return r.Name == "consume" })]
	for _, grant := range role.Grants {
		g.revoke(t, "CN=news-consume", grant)
	}
}

func kafkaJars(t *testing.T) string {
	t.Helper()
	jars, err := filepath.Abs("../../.tools/kafka-" + kafkaserver.Older + "/*")
	if err != nil {
		t.Fatal(err)
	}
	return jars
}

// foreignTopics tries every stage on every topic. Each stage reports a trouble, and the commands
// that look see it.
func (g *guarded) foreignTopics(t *testing.T) {
	n := topics.Loop("base")
	for _, role := range n.Roles()[:len(topics.Stages())] {
		access := kafka.At(g.Addrs()...)
		access.SASL = kafka.SASL{Mechanism: kafka.Plain, User: role.Name, PasswordFile: g.password}
		client, err := kgo.NewClient(append(access.Options(), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		admin := kadm.NewClient(client)
		now := time.Now()
		trouble.NewReporter(n, admin, "tester", 1).Report(t.Context(), topics.Stage(role.Name),
			trouble.Trouble{Kind: trouble.Fails, Says: "tired", Times: 1, Since: now, At: now})
		for _, topic := range n.Topics() {
			may := slices.Contains(role.Grants, topics.Grant{Operation: topics.MayWrite, On: topics.OfTopic, Name: topic.Name})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			err := client.ProduceSync(ctx, &kgo.Record{Topic: topic.Name, Value: []byte("x")}).FirstErr()
			cancel()
			if may != (err == nil) || !may && !denied(err.Error()) {
				t.Errorf("%s writes to %s: %v", role.Name, topic.Name, err)
			}
			if role.Name == string(topics.Normalize) && topic.Kept == topics.UntilConsumed {
				continue // Kafka has one right to trim a log and to delete it
			}
			deleted, err := admin.DeleteTopics(t.Context(), topic.Name)
			if err != nil || deleted[topic.Name].Err == nil {
				t.Errorf("%s deletes %s: %v, %v", role.Name, topic.Name, deleted, err)
			}
		}
	}
	said := g.must(t, "look", "base", "status")
	for _, stage := range topics.Stages() {
		if !strings.Contains(said, string(stage)+" of tester failed at ") {
			t.Errorf("what %s told is not in\n%s", stage, said)
		}
	}
}

// eachGrant runs a crawl for each grant of each stage, and of weft crawl, without
// it.
func (g *guarded) eachGrant(t *testing.T) {
	var work, waiting errgroup.Group
	work.SetLimit(4)
	for r, role := range topics.Loop("any").Roles() {
		if r >= len(topics.Stages()) && role.Name != "crawl" {
			continue
		}
		for i, grant := range role.Grants {
			if role.Name == string(topics.Parse) && grant == onceAnHour || grant == toTell {
				continue
			}
			tried := &work
			if grant.Operation == topics.MayDelete {
				tried = &waiting // until there is something to trim, up to half a minute
			}
			tried.Go(func() error {
				g.isMissed(t, r, i)
				return nil
			})
		}
	}
	_, _ = work.Wait(), waiting.Wait()
}

// isMissed runs a crawl without one grant of a role.
func (g *guarded) isMissed(t *testing.T, r, i int) {
	crawl := fmt.Sprintf("c%d-%d", r, i)
	role := topics.Loop(crawl).Roles()[r]
	begun := time.Now()
	said, err := g.without(t.Context(), t.TempDir(), crawl, role, role.Grants[i])
	if err != nil {
		t.Errorf("%s without %v: %v\n%s", role.Name, role.Grants[i], err, said)
	}
	t.Logf("%s without %v: %v", role.Name, role.Grants[i], time.Since(begun).Round(time.Millisecond))
}

// only commands that look need toTell: see foreignTopics.
var toTell = topics.Grant{Operation: topics.MayRead, On: topics.OfGroup, Name: topics.Loop("any").Troubles()}

// onceAnHour is when it is looked whether a large body that no record of fetched
// refers to may be asked for by a rejected one: too late for a test.
var onceAnHour = topics.Grant{Operation: topics.MayRead, On: topics.OfTopic, Name: topics.Loop("any").Rejected}

// without runs a crawl that lacks a grant until that is noticed.
func (g *guarded) without(ctx context.Context, dir, crawl string, role topics.Role, missing topics.Grant) (string, error) {
	if err := g.grant(ctx, role, missing); err != nil {
		return "", err
	}
	if role.Name == "crawl" {
		return g.crawls(ctx, dir, crawl, missing)
	}
	var out said
	for _, args := range [][]string{
		{"topics", "create", "--partitions", "1", "--delay", "0s", "--allow-private", "--scope", "any"},
		{"seed", g.seeds},
	} {
		if code := g.weft(ctx, anybody, crawl, &out, args...); code != exitDone {
			return out.String(), fmt.Errorf("exit code %d", code)
		}
	}
	if err := g.garbage(ctx, crawl, topics.Loop(crawl).Parsed); err != nil { // so that parse has something to read there
		return "", err
	}
	var others []string
	for _, s := range topics.Stages() {
		if string(s) != role.Name {
			others = append(others, string(s))
		}
	}
	loop := g.run(ctx, crawl, dir, map[string][]string{anybody: others})
	defer loop.stop()
	if role.Name == string(topics.Fetch) && !g.released(ctx, crawl) { // so that it looks for what was fetched before it
		return loop.said[anybody].String(), errors.New("nothing is released")
	}
	stages := g.run(ctx, crawl, dir, map[string][]string{role.Name: {role.Name}})
	defer stages.stop()
	err := noticed(ctx, stages.said[role.Name])
	return stages.said[role.Name].String(), err
}

// released waits for visits to be released.
func (g *guarded) released(ctx context.Context, crawl string) bool {
	reader, err := status.NewMonitor(topics.Loop(crawl), kafka.At(g.Inside()...).Options()...)
	if err != nil {
		return false
	}
	defer reader.Close()
	return eventually(ctx, time.Minute, func() bool {
		status, err := reader.Read(ctx)
		return err == nil && status.Gauges.Out > 0
	})
}

// crawls crawls in one process, so slowly that there is something to trim when
// it has stayed for as long as it has to. An archive would keep it until a file is full,
// or an hour old.
func (g *guarded) crawls(ctx context.Context, dir, crawl string, missing topics.Grant) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	var out said
	var crawling sync.WaitGroup
	crawling.Go(func() {
		args := []string{"crawl", "--seeds", g.seeds, "--data", dir, "--delay", "4s", "--allow-private", "--scope", "any", "--partitions", "1"}
		if missing.Operation != topics.MayDelete {
			args = append(args, "--warc")
		}
		g.weft(ctx, "crawl", crawl, &out, args...)
	})
	defer crawling.Wait()
	defer cancel()
	err := noticed(ctx, &out)
	return out.String(), err
}

// noticed waits for something to be denied.
func noticed(ctx context.Context, out *said) error {
	if !eventually(ctx, 2*time.Minute, func() bool { return denied(out.String()) }) {
		return errUnnoticed
	}
	return nil
}
