package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

const exampleConfig = "../../docs/weft.example.yaml"

func TestExampleConfigIsAccepted(t *testing.T) {
	var grammar cli
	parser, err := newParser(&grammar, streams{strings.NewReader(""), io.Discard, io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"crawl", "--config", exampleConfig, "--brokers", "a:1,b:2"}); err != nil {
		t.Fatal(err)
	}
	got := grammar.Crawl
	if *got.Delay != time.Second || *got.MaxDepth != -1 || len(got.Exclude) != 2 || got.Compress != "zstd" || len(got.Brokers) != 2 {
		t.Errorf("the file gives %+v", got)
	}
	if err := got.definitionFlags.check(); err != nil {
		t.Error(err)
	}
}

// What the file shows in comments is accepted, too, when the comment sign is removed.
func TestExampleConfigIsAcceptedInComments(t *testing.T) {
	text, err := os.ReadFile(exampleConfig)
	if err != nil {
		t.Fatal(err)
	}
	var grammar cli
	parser, err := newParser(&grammar, streams{strings.NewReader(""), io.Discard, io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for line := range strings.Lines(string(text)) {
		example, found := strings.CutPrefix(line, "# ")
		if name, _, ok := strings.Cut(example, ": "); !found || !ok || strings.Contains(name, " ") || name != strings.ToLower(name) {
			continue
		}
		path := filepath.Join(t.TempDir(), "weft.yaml")
		if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse([]string{"crawl", "--config", path, "http://example.com/"})
		if err != nil && (strings.Contains(err.Error(), "is not a flag") || strings.HasPrefix(example, "rules:")) {
			continue // a line of text, and a file that is not there
		}
		if tried++; err != nil {
			t.Errorf("%s: %v", strings.TrimSpace(example), err)
		}
		if strings.HasPrefix(example, "keep-of:") && (len(grammar.Crawl.KeepOf) != 2 || grammar.Crawl.KeepOf["example.com"] != age(30*24*time.Hour)) {
			t.Errorf("%s gives %v", example, grammar.Crawl.KeepOf)
		}
	}
	if tried < 20 {
		t.Errorf("only %d examples", tried)
	}
}

// Editors of Windows write a byte order mark in front of a text (YAML 1.2, section 5.2).
func TestConfigBehindAByteOrderMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weft.yaml")
	if err := os.WriteFile(path, []byte("\ufeffdelay: 7s\r\nmax-pages: 3\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var grammar cli
	parser, err := newParser(&grammar, streams{strings.NewReader(""), io.Discard, io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"crawl", "--config", path, "http://example.com/"}); err != nil {
		t.Fatal(err)
	}
	if got := grammar.Crawl; *got.Delay != 7*time.Second || *got.MaxPages != 3 {
		t.Errorf("the file gives a delay of %v and %v pages", *got.Delay, *got.MaxPages)
	}
}

func TestExampleConfigNamesEveryFlag(t *testing.T) {
	text, err := os.ReadFile(exampleConfig)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := newParser(new(cli), streams{strings.NewReader(""), io.Discard, io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	var walk func(*kong.Node)
	walk = func(node *kong.Node) {
		for _, flag := range node.Flags {
			if flag.Name == "help" || flag.Name == "config" || flag.Name == "version" {
				continue
			}
			if slices.Contains([]string{"domain", "erase", "expire"}, node.Name) && len(flag.Envs) == 0 { // only from the command line
				continue
			}
			if !strings.Contains(string(text), "\n"+flag.Name+":") && !strings.Contains(string(text), "\n# "+flag.Name+":") {
				t.Errorf("--%s is not in %s", flag.Name, exampleConfig)
			}
			if want := "WEFT_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_")); len(flag.Envs) != 1 || flag.Envs[0] != want {
				t.Errorf("--%s is %v in the environment, want %s", flag.Name, flag.Envs, want)
			}
		}
		for _, child := range node.Children {
			walk(child)
		}
	}
	walk(parser.Model.Node)
}
