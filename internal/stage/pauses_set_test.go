package stage

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/topics"
)

// Set returns when the clients are paused: no record comes after it.
func TestPausesHoldWhenTheyAreSet(t *testing.T) {
	client, err := kgo.NewClient()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	e := Env{Names: topics.Loop("weft"), Pauses: NewPauses(topics.Control{Paused: []topics.Stage{topics.Parse}})}
	is := func(want ...string) {
		t.Helper()
		if got := client.PauseFetchTopics(); !slices.Equal(got, want) {
			t.Fatalf("paused %q, want %q", got, want)
		}
	}
	end := e.FollowPauses(topics.Parse, client)
	is(e.Names.Fetched)
	for range 100 { // an act that comes late may be in time now and then
		e.Pauses.Set(topics.Control{Paused: []topics.Stage{topics.Fetch}})
		is()
		e.Pauses.Set(topics.Control{Paused: []topics.Stage{topics.Parse}})
		is(e.Names.Fetched)
	}
	end()
	e.Pauses.Set(topics.Control{})
	is(e.Names.Fetched) // the client is no longer asked
}
