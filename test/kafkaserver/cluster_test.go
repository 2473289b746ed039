package kafkaserver

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func connect(t testing.TB, addrs []string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addrs...), kgo.MetadataMinAge(100 * time.Millisecond)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestOneBrokerKilledAndStartedAgain(t *testing.T) {
	var dir string
	t.Run("cluster", func(t *testing.T) {
		c := Start(t, Options{})
		dir = c.dir
		ctx := deadline(t)
		client := connect(t, c.Addrs())
		admin := kadm.NewClient(client)
		if _, err := admin.CreateTopic(ctx, 1, -1, nil, "t"); err != nil {
			t.Fatal(err)
		}
		write := func() int64 {
			r, err := client.ProduceSync(ctx, &kgo.Record{Topic: "t", Value: []byte("v")}).First()
			if err != nil {
				t.Fatal(err)
			}
			return r.Offset
		}
		if at := write(); at != 0 {
			t.Errorf("the first record is at %d", at)
		}
		c.Kill(t, 1)
		c.StartAgain(t, 1)
		if at := write(); at != 1 {
			t.Errorf("the first record after kill -9 is at %d", at)
		}
	})
	if dir == "" {
		t.Skip("there is no Apache Kafka")
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("something is left in %s: %v", dir, err)
	}
}

// replicas returns leader and in-sync replicas of the one partition of a topic.
func replicas(t *testing.T, ctx context.Context, admin *kadm.Client, topic string) (leader int32, insync []int32) {
	t.Helper()
	// Asking for authorised operations bypasses kadm's cache.
	listed, err := admin.ListTopics(kadm.WithAuthorizedOps(ctx), topic)
	if err != nil {
		t.Fatal(err)
	}
	p := listed[topic].Partitions[0]
	return p.Leader, slices.Sorted(slices.Values(p.ISR))
}

// until waits for the in-sync replicas to be these.
func until(t *testing.T, ctx context.Context, admin *kadm.Client, topic string, want ...int32) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		_, insync := replicas(t, ctx, admin, topic)
		if slices.Equal(insync, want) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("in sync are %v, not %v", insync, want)
		case <-ticker.C:
		}
	}
}

// Each of three brokers leaves in another way and comes back, and what was
// acknowledged is there.
func TestThreeBrokersLeaveAndComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three brokers, and each of them again")
	}
	c := Start(t, Options{Brokers: 3})
	ctx := deadline(t)
	client := connect(t, c.Addrs(), kgo.RequestTimeoutOverhead(2*time.Second))
	admin := kadm.NewClient(client)
	if _, err := admin.CreateTopic(ctx, 1, -1, nil, "t"); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, admin, "t", 1, 2, 3)
	for i, leaves := range []struct {
		how  string
		away func(testing.TB, int32)
		back func(testing.TB, int32)
	}{
		{"killed", c.Kill, c.StartAgain},
		{"stopped", c.Stop, c.StartAgain},
		{"frozen", c.Freeze, c.Thaw},
	} {
		leader, _ := replicas(t, ctx, admin, "t")
		leaves.away(t, leader)
		r, err := client.ProduceSync(ctx, &kgo.Record{Topic: "t", Value: []byte("v")}).First()
		if err != nil || r.Offset != int64(i) {
			t.Fatalf("with the leader %s a record is at %d: %v", leaves.how, r.Offset, err)
		}
		leaves.back(t, leader)
		until(t, ctx, admin, "t", 1, 2, 3)
	}
}

// The hooks for other listeners: SCRAM, and an authorizer that knows who came.
func TestListenerWithPasswords(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a broker for itself")
	}
	c := Start(t, Options{
		Listeners: []Listener{{Name: "CLIENTS", Protocol: "SASL_PLAINTEXT"}},
		Properties: map[string]string{
			"sasl.enabled.mechanisms":                              "SCRAM-SHA-512",
			"listener.name.clients.scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
			"authorizer.class.name":                                "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		},
		Format: []string{"--add-scram", "SCRAM-SHA-512=[name=weft,password=secret]"},
	})
	ctx := deadline(t)
	over := func(password string) *kgo.Client {
		return connect(t, c.Addrs(), kgo.SASL(scram.Auth{User: "weft", Pass: password}.AsSha512Mechanism()))
	}
	if err := over("guessed").Ping(ctx); !errors.Is(err, kerr.SaslAuthenticationFailed) {
		t.Errorf("with a wrong password: %v", err)
	}
	weft := kadm.NewClient(over("secret"))
	if _, err := weft.CreateTopic(ctx, 1, -1, nil, "t"); !errors.Is(err, kerr.ClusterAuthorizationFailed) && !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("without a right: %v", err)
	}
	super := kadm.NewClient(connect(t, c.Inside()))
	right := kadm.NewACLs().Topics("t").Allow("User:weft").AllowHosts().Operations(kadm.OpCreate).ResourcePatternType(kadm.ACLPatternLiteral)
	if granted, err := super.CreateACLs(ctx, right); err != nil || granted[0].Err != nil {
		t.Fatal(err, granted)
	}
	if _, err := weft.CreateTopic(ctx, 1, -1, nil, "t"); err != nil {
		t.Errorf("with the right: %v", err)
	}
}

func TestOptionsValidate(t *testing.T) {
	for _, tc := range []struct {
		o    Options
		says string
	}{
		{Options{}, ""},
		{Options{Brokers: 3, Listeners: []Listener{{"TLS", "SSL"}, {"SASL", "SASL_SSL"}}}, ""},
		{Options{Brokers: 2}, "2 brokers"},
		{Options{Listeners: []Listener{{"tls", "SSL"}}}, `"tls"`},
		{Options{Listeners: []Listener{{"", "SSL"}}}, `""`},
		{Options{Listeners: []Listener{{"INSIDE", "SSL"}}}, "INSIDE is taken"},
		{Options{Listeners: []Listener{{"TLS", "SSL"}, {"TLS", "SSL"}}}, "TLS is taken"},
		{Options{Listeners: []Listener{{"TLS", "TLS"}}}, `protocol "TLS"`},
	} {
		err := tc.o.Validate()
		if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%+v: %v", tc.o, err)
		}
	}
}

// The versions that tests ask for are those that are fetched.
func TestVersionsAreFetched(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\nKAFKA_VERSIONS := " + Current + " " + Older + "\n"; !strings.Contains(string(makefile), want) {
		t.Errorf("the Makefile has no line%s", want)
	}
}
