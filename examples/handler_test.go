package examples_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// The handler in Python reads records of fetched, without the classes of protobuf.
func TestHandlerReadsFetched(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	f := &weftpb.Fetched{
		Id: "page-1", Request: &weftpb.Request{Target: &weftpb.Target{Url: "https://a.example/ä.png", Depth: 300}},
		Outcome: &weftpb.Outcome{Index: 1, Status: 200, StartedMs: 1_790_000_000_123, BodyBytes: 3},
		Headers: []*weftpb.Header{{Name: "Server", Value: "x"}, {Name: "Content-Type", Value: "image/png"}}, Body: []byte("\x00\xffa"),
	}
	run := func() map[string]any {
		value, err := proto.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(python, "python/handler.py")
		cmd.Stdin = bytes.NewReader(value)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var made map[string]any
		if err := json.Unmarshal(out, &made); err != nil {
			t.Fatal(err)
		}
		return made
	}
	if got := run(); got["id"] != "page-1" || got["url"] != "https://a.example/ä.png" || got["type"] != "image/png" || got["bytes"] != 3.0 {
		t.Errorf("the handler makes %v", got)
	}
	f.Outcome.Status = 404
	if got := run(); got != nil {
		t.Errorf("of an error the handler makes %v", got)
	}
}
