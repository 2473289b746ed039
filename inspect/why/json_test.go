package why

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestJSONIsDocumented holds the names in JSON, and which of them may be left
// out, against docs/why.md.
func TestJSONIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/why.md")
	if err != nil {
		t.Fatal(err)
	}
	documented, section := map[string][]string{}, ""
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			section = strings.TrimSpace(title)
		}
		if row, ok := strings.CutPrefix(line, "| `"); ok {
			name, rest, _ := strings.Cut(row, "`")
			if strings.HasPrefix(rest, " ° |") {
				name += " °"
			}
			documented[section] = append(documented[section], name)
		}
	}
	for section, shape := range map[string]any{
		"URL": URLStory{}, "Domain": DomainStory{}, "Crawl": CrawlStory{},
		"Ref": Ref{}, "Scope": Scope{}, "Find": Discovery{}, "Transit": Transit{}, "Step": Step{}, "Attempt": Attempt{},
		"Queue": Queue{}, "Visit": Visit{}, "Verdict": Verdict{}, "Hold": WaitReason{}, "Page": Page{}, "Delay": Delay{},
		"Setting": Setting{}, "Profile": Profile{}, "Today": Today{}, "Domain row": DomainRow{},
		"Host": Host{}, "Queues": DomainQueues{}, "Origin": Origin{}, "Domain attempt": DomainAttempt{},
		"Stand-in": Kept{}, "Site rules": SiteRules{}, "Site rule": SiteRule{},
		"Finding": Diagnosis{}, "Wait": Wait{}, "Slow domain": SlowDomain{}, "Recent": Recent{}, "Process memory": ProcessMemory{}, "Stage": StageStatus{},
	} {
		if names := members(reflect.TypeOf(shape)); !slices.Equal(names, documented[section]) {
			t.Errorf("%s has\n%q, documented are\n%q", section, names, documented[section])
		}
		delete(documented, section)
	}
	for section := range documented {
		t.Errorf("%s is documented and does not exist", section)
	}
}

// members are the names of a struct in JSON, those that may be left out with a
// mark.
func members(shape reflect.Type) (names []string) {
	for field := range fields(shape) {
		if field.Anonymous {
			names = append(names, members(field.Type)...)
			continue
		}
		name, options, tagged := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() {
			continue
		}
		if tagged && strings.HasPrefix(options, "omit") {
			name += " °"
		}
		names = append(names, name)
	}
	return names
}

func fields(shape reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range shape.NumField() {
			if !yield(shape.Field(i)) {
				return
			}
		}
	}
}
