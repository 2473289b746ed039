package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// promptedPlan is a block of docs/scale.md: a command and what it prints.
var promptedPlan = regexp.MustCompile("(?s)```console\n\\$ weft (plan [^\n]*)\n.*?```\n")

// What docs/scale.md says weft plan prints is what it prints.
func TestDocumentedPlans(t *testing.T) {
	const path = "../../docs/scale.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plans := 0
	want := promptedPlan.ReplaceAllFunc(text, func(block []byte) []byte {
		plans++
		line := promptedPlan.FindSubmatch(block)[1]
		var printed said
		if code := command(t.Context(), strings.Fields(string(line)), streams{strings.NewReader(""), &printed, &printed}, realEngine()); code != exitDone {
			t.Fatalf("%s: %s", line, printed.String())
		}
		return []byte("```console\n$ weft " + string(line) + "\n" + printed.String() + "```\n")
	})
	if plans < 4 {
		t.Errorf("%s shows %d plans", path, plans)
	}
	if string(want) == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what weft plan prints; -update rewrites it", path)
	}
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAmount(t *testing.T) {
	for text, want := range map[string]amount{"0": 0, "12": 12, "86_400_000": 86_400_000, "86.4M": 86_400_000, "1B": 1_000_000_000, "2.5k": 2500, "1e6": 1_000_000} {
		var got amount
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is %d (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "M", "-1", "many", "1G", "1e30", "NaN", "Inf"} {
		var got amount
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
