package httpfield

import (
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	for list, want := range map[string][2]string{
		"":               {"", ""},
		"a":              {"a", ""},
		"a, b,c":         {"a", " b,c"},
		",a":             {"", "a"},
		`"a,b" x, c`:     {`"a,b" x`, " c"},
		`a="\",", b`:     {`a="\","`, " b"},
		`a="b, c`:        {`a="b, c`, ""},
		`a="b\`:          {`a="b\`, ""},
		`a="b","c,d", e`: {`a="b"`, `"c,d", e`},
	} {
		member, rest, _ := Cut(list)
		if member != want[0] || rest != want[1] {
			t.Errorf("%q: got %q and %q, want %q", list, member, rest, want)
		}
	}
	if _, _, more := Cut("a,"); !more {
		t.Error("a comma at the end is not found")
	}
	if _, _, more := Cut("a"); more {
		t.Error("there is a comma in one member")
	}
}

func TestQuoted(t *testing.T) {
	for s, want := range map[string][2]string{
		`"`:         {"", ""},
		`""x`:       {"", "x"},
		`"a\"b" c`:  {`a"b`, " c"},
		`"\a\\" ;d`: {`a\`, " ;d"},
		`"a`:        {"a", ""},
		`"a\`:       {`a\`, ""},
	} {
		if value, rest := Quoted(s); value != want[0] || rest != want[1] {
			t.Errorf("%q: got %q and %q, want %q", s, value, rest, want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add(`a="\",", b`, `b\"`)
	f.Fuzz(func(t *testing.T, list, value string) {
		member, rest, more := Cut(list)
		if joined := member + "," + rest; more && joined != list || !more && member != list {
			t.Errorf("%q is cut into %q and %q, more: %v", list, member, rest, more)
		}
		if _, _, more := Cut(member); more {
			t.Errorf("%q: %q is more than one member", list, member)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		if member, rest, _ = Cut(quoted + "," + list); member != quoted || rest != list {
			t.Errorf("%q in front of %q: got %q and %q", quoted, list, member, rest)
		}
		if got, rest := Quoted(quoted + list); got != value || rest != list {
			t.Errorf("%q in front of %q: got %q and %q", quoted, list, got, rest)
		}
	})
}
