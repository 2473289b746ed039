package processors

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/topics"
)

// Every stage of the loop can be run, and has what its kind needs.
func TestLoopIsWhole(t *testing.T) {
	var stages []topics.Stage
	for _, s := range Loop(topics.Loop("test")) {
		stages = append(stages, s.Stage)
		if s.Run == nil || (s.Transform != nil) != (s.Kind == topics.Worker) || (s.Define != nil) != (s.Kind == topics.Ledger) {
			t.Errorf("%s lacks a function, or has one of another kind", s.Stage)
		}
	}
	if !slices.Equal(stages, topics.Groups()) {
		t.Errorf("the loop is %q, want %q", stages, topics.Groups())
	}
}

// Every topic is written by a stage or by people, and what a stage reads is a topic
// of the crawl.
func TestTopicsAreOfTheLoop(t *testing.T) {
	names := topics.Loop("test")
	written := map[string]bool{names.Config: true, names.Seeds: true, names.Rejected: true}
	for _, s := range names.Steps() {
		for _, topic := range s.Outputs {
			written[topic] = true
		}
		for _, topic := range slices.Concat(s.Inputs, s.Outputs, s.Looks) {
			if _, known := names.Topic(topic); !known {
				t.Errorf("%s names %s, which is not a topic", s.Stage, topic)
			}
		}
	}
	for _, topic := range names.Topics() {
		if !written[topic.Name] {
			t.Errorf("nothing writes %s", topic.Name)
		}
	}
}

// The pictures of the loop show the table: its topics, and each stage between an
// input and an output of its own.
func TestPicturesShowTheLoop(t *testing.T) {
	names := topics.Loop("")
	edge := regexp.MustCompile(`(\w+) ─(\w+)→ `)
	word := regexp.MustCompile(`[a-z]+`)
	for _, file := range []string{"../README.md", "../docs/architecture.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, picture, found := strings.Cut(string(text), "\n## The loop\n")
		picture, _, closed := strings.Cut(picture[strings.Index(picture, "```")+3:], "```")
		if !found || !closed {
			t.Fatalf("%s has no picture of the loop", file)
		}
		shown := map[string]string{} // stage → input
		for _, line := range strings.Split(picture, "\n") {
			for at := 0; ; {
				m := edge.FindStringSubmatchIndex(line[at:])
				if m == nil {
					break
				}
				input, stage := line[at+m[2]:at+m[3]], line[at+m[4]:at+m[5]]
				output := word.FindString(line[at+m[1]:])
				at += m[3]
				shown[stage] = input
				if s := Find(names, topics.Stage(stage)); !slices.Contains(s.Inputs, "."+input) || s.Kind != topics.Archiver && !slices.Contains(s.Outputs, "."+output) {
					t.Errorf("%s: %s does not lead from %s to %s", file, stage, input, output)
				}
			}
		}
		words := word.FindAllString(picture, -1)
		for _, s := range Loop(names) {
			if shown[string(s.Stage)] == "" {
				t.Errorf("%s: %s is not in the picture", file, s.Stage)
			}
			for _, topic := range slices.Concat(s.Inputs, s.Outputs) {
				if !slices.Contains(words, topic[1:]) {
					t.Errorf("%s: the picture does not show %s", file, topic[1:])
				}
			}
		}
	}
}
