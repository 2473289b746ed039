package main

import (
	"io"
	"os"
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
