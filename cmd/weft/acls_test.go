package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the commands in docs/security.md")

// docs/security.md has the rights of the list.
func TestDocumentedRights(t *testing.T) {
	const path, begin, end = "../../docs/security.md", "```sh\n# normalize: ", "\n```\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no block of commands", path)
	}
	var printed said
	if code := command(t.Context(), []string{"topics", "acls"}, streams{strings.NewReader(""), &printed, &printed}, realEngine()); code != exitDone {
		t.Fatal(printed.String())
	}
	want := strings.TrimPrefix(strings.TrimSuffix(printed.String(), "\n"), "# normalize: ")
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not what weft topics acls prints; -update rewrites it", path)
	}
	if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
