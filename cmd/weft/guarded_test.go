package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/test/kafkaserver"
	"github.com/weftcrawl/weft/test/webserver"
	"github.com/weftcrawl/weft/topics"
)

// guarded is an Apache Kafka without any rights, in which every role of a crawl is a user, and a
// web to crawl.
type guarded struct {
	*kafkaserver.Cluster
	super    *kadm.Client // it may do everything
	password string       // file of the password of all users
	seeds    string       // file
	// checkpoints of the crawl "base".
	checkpoints string
}

const pagesOfGuarded = 30

func startGuarded(t *testing.T) *guarded {
	t.Helper()
	kafkaserver.Need(t, kafkaserver.Current)
	jaas := "org.apache.kafka.common.security.plain.PlainLoginModule required"
	for _, role := range topics.Loop("any").Roles() {
		jaas += fmt.Sprintf(` user_%s="open sesame"`, role.Name)
	}
	g := &guarded{Cluster: kafkaserver.Start(t, kafkaserver.Options{
		Listeners: []kafkaserver.Listener{{Name: "CLIENTS", Protocol: "SASL_PLAINTEXT"}},
		Properties: map[string]string{
			"listener.name.clients.sasl.enabled.mechanisms": "PLAIN",
			"listener.name.clients.plain.sasl.jaas.config":  jaas + ";",
			"authorizer.class.name":                         "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
			"allow.everyone.if.no.acl.found":                "false",
		},
	})}
	client, err := kgo.NewClient(kafka.At(g.Inside()...).Options()...)
	if err != nil {
		t.Fatal(err)
	}
	g.super = kadm.NewClient(client)
	t.Cleanup(g.super.Close)

	web, err := webserver.NewGenerated(webserver.Options{Pages: pagesOfGuarded, Domains: 2, MedianBytes: 2000, MeanBytes: 3000})
	if err != nil {
		t.Fatal(err)
	}
	server, err := webserver.Serve(web, webserver.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	dir := t.TempDir()
	g.password, g.seeds = filepath.Join(dir, "password"), filepath.Join(dir, "seeds")
	for path, text := range map[string]string{g.password: "open sesame\n", g.seeds: strings.Join(server.Seeds(), "\n") + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// anybody is a client that is a super user on the brokers' own listener.
const anybody = ""

// said is what a command has printed so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// denied tells whether the text says that something is not allowed.
func denied(text string) bool { return strings.Contains(strings.ToLower(text), "authoriz") }

// weft runs a command as a role and returns its exit code.
func (g *guarded) weft(ctx context.Context, role, crawl string, out *said, args ...string) int {
	args = append(args, "--crawl", crawl, "--brokers", strings.Join(g.Inside(), ","))
	if role != anybody {
		args[len(args)-1] = strings.Join(g.Addrs(), ",")
		args = append(args, "--sasl", "plain", "--sasl-user", role, "--sasl-password-file", g.password)
	}
	return command(ctx, args, streams{strings.NewReader(""), out, out}, realEngine())
}

// must runs a command as a role, which must be allowed to do all of it.
func (g *guarded) must(t *testing.T, role, crawl string, args ...string) string {
	t.Helper()
	var out said
	if code := g.weft(t.Context(), role, crawl, &out, args...); code != exitDone || denied(out.String()) {
		t.Fatalf("%s: weft %v: exit code %d: %s", role, args, code, out.String())
	}
	return out.String()
}

// acl is what Kafka calls a grant.
func acl(role string, g topics.Grant) *kadm.ACLBuilder {
	operation, err := kmsg.ParseACLOperation(string(g.Operation))
	if err != nil {
		panic(err)
	}
	pattern := kadm.ACLPatternLiteral
	if g.Prefixed {
		pattern = kadm.ACLPatternPrefixed
	}
	b := kadm.NewACLs().Allow("User:" + role).AllowHosts().Operations(operation).ResourcePatternType(pattern)
	if g.On == topics.OfGroup {
		return b.Groups(g.Name)
	}
	return b.Topics(g.Name)
}

// grant gives a role its grants but those without.
func (g *guarded) grant(ctx context.Context, role topics.Role, without ...topics.Grant) error {
	for _, grant := range role.Grants {
		if slices.Contains(without, grant) {
			continue
		}
		created, err := g.super.CreateACLs(ctx, acl(role.Name, grant))
		if err == nil {
			err = created[0].Err
		}
		if err != nil {
			return fmt.Errorf("grant %v to %s: %w", grant, role.Name, err)
		}
	}
	return nil
}

// revoke takes grants away from a role.
func (g *guarded) revoke(t *testing.T, role string, grants ...topics.Grant) {
	t.Helper()
	for _, grant := range grants {
		deleted, err := g.super.DeleteACLs(t.Context(), acl(role, grant))
		if err != nil || len(deleted) != 1 || len(deleted[0].Deleted) != 1 {
			t.Fatalf("revoke %v from %s: %v, %v", grant, role, deleted, err)
		}
	}
}

// garbage writes to each transient topic, and to others, a record that does not belong there.
func (g *guarded) garbage(ctx context.Context, crawl string, others ...string) error {
	client, err := kgo.NewClient(kafka.At(g.Inside()...).Options()...)
	if err != nil {
		return err
	}
	defer client.Close()
	n := topics.Loop(crawl)
	var records []*kgo.Record
	for _, topic := range append(others, n.Seeds, n.Discovered, n.Normalized, n.Visited, n.Fetched) {
		records = append(records, &kgo.Record{Topic: topic, Key: []byte("x"), Value: []byte("\xff\xffgarbage")})
	}
	return client.ProduceSync(ctx, records...).FirstErr()
}

// running are stages in the background, each as a role.
type running struct {
	cancel context.CancelFunc
	said   map[string]*said // by role
	wait   sync.WaitGroup
	ended  chan string // roles whose command has ended by itself
}

// run starts weft run for each role, with these stages.
func (g *guarded) run(ctx context.Context, crawl, dir string, stages map[string][]string, more ...string) *running {
	r := &running{said: map[string]*said{}, ended: make(chan string, len(stages))}
	ctx, r.cancel = context.WithCancel(ctx)
	for role, names := range stages {
		out := &said{}
		r.said[role] = out
		r.wait.Go(func() {
			args := append(append([]string{"run"}, names...), "--data", filepath.Join(dir, "data-"+role))
			code := g.weft(ctx, role, crawl, out, append(args, more...)...)
			if ctx.Err() == nil {
				fmt.Fprintf(out, "\nexit code %d\n", code)
				r.ended <- role
			}
		})
	}
	return r
}

func (r *running) stop() {
	r.cancel()
	r.wait.Wait()
}

// everyStage is each stage under its own name.
func everyStage() map[string][]string {
	stages := map[string][]string{}
	for _, s := range topics.Stages() {
		stages[string(s)] = []string{string(s)}
	}
	return stages
}

// errUnnoticed means that nothing has been denied.
var errUnnoticed = errors.New("nothing was denied")

// eventually asks until it holds, for at most that long.
func eventually(ctx context.Context, d time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}

// timeoutOfServing bounds the wait for a process to serve its metrics.
const timeoutOfServing = 20 * time.Second
