package robots

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

func TestUsage(t *testing.T) {
	for name, c := range map[string]struct{ file, path, want string }{
		"nothing":             {"User-agent: *\nDisallow: /x\n", "/a", ""},
		"everybody":           {"User-agent: *\nContent-Usage: train-ai=n, search=y\n", "/a", "content-usage: train-ai=n, search=y\n"},
		"longest pattern":     {"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a/ train-ai=y\n", "/a/b", "content-usage: train-ai=y\n"},
		"other path":          {"User-agent: *\nContent-Usage: /a/ train-ai=n\n", "/b", ""},
		"wildcards":           {"User-agent: *\nContent-Usage: /*.pdf$ train-ai=n\n", "/a.pdf", "content-usage: train-ai=n\n"},
		"equal patterns":      {"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: / search=n\n", "/", "content-usage: train-ai=n, search=n\n"},
		"signals":             {"User-Agent: *\nContent-signal: search=yes,ai-train=no\nAllow: /\n", "/", "content-signal: search=yes,ai-train=no\n"},
		"both":                {"User-Agent: *\nContent-Signal: ai-train=no\nContent-Usage: /a train-ai=n\n", "/a", "content-usage: train-ai=n\ncontent-signal: ai-train=no\n"},
		"our group":           {"User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: weft\nContent-Usage: train-ai=y\n", "/", "content-usage: train-ai=y\n"},
		"our group is silent": {"User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: weft\nDisallow:\n", "/", ""},
		"other group":         {"User-agent: other\nContent-Usage: train-ai=n\n", "/", ""},
		"no group":            {"Content-Usage: train-ai=n\nUser-agent: other\nDisallow: /\n", "/", "content-usage: train-ai=n\n"},
		"no value":            {"User-agent: *\nContent-Usage:\nContent-Usage: /a\n", "/a", ""},
		"control characters":  {"User-agent: *\nContent-Usage: train-ai=n\tx\x01\n", "/", "content-usage: train-ai=nx\n"},
	} {
		r := Parse(200, []byte(c.file), "weft")
		if got := Usage(r, "https://a.example"+c.path); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := Usage(Parse(404, []byte("User-agent: *\nContent-Usage: train-ai=n\n"), "weft"), "https://a.example/"); got != "" {
		t.Errorf("a file that is not there says %q", got)
	}
}

// A preference is not a rule for what may be fetched, and does not part the agents of a group.
func TestUsageIsNoRule(t *testing.T) {
	r := Parse(200, []byte("User-agent: other\nContent-Usage: train-ai=n\nUser-agent: weft\nDisallow: /\n"), "weft")
	if Compile(r).Allowed("/a") || Usage(r, "https://a.example/") != "" {
		t.Errorf("rules %q, usage %q", r.Rules, r.Usage)
	}
	plain, stated := Parse(200, []byte("User-agent: *\nDisallow: /b\n"), "weft"), Parse(200, []byte("User-agent: *\nDisallow: /b\nContent-Usage: train-ai=n\n"), "weft")
	if string(plain.Hash) == string(stated.Hash) || plain.Rules != stated.Rules {
		t.Error("a file with other preferences has the same hash, or other rules")
	}
}

func TestUsageIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for range 20_000 {
		b.WriteString("Content-Usage: /a train-ai=n\n")
	}
	r := Parse(200, []byte(b.String()), "weft")
	if len(r.Usage) > maxUsageBytes || strings.Count(r.Usage, "\n") > maxUsageLines {
		t.Errorf("%d bytes, %d lines", len(r.Usage), strings.Count(r.Usage, "\n"))
	}
	if got := Usage(r, "https://a.example/a"); len(got) > maxUsage {
		t.Errorf("%d bytes for one URL", len(got))
	}
	if got := Usage(&weftpb.Robots{Usage: "x\ncontent-usage\t/\n\t\t\tcontent-usage"}, "https://a.example/"); got != "" {
		t.Errorf("a broken record says %q", got)
	}
}
