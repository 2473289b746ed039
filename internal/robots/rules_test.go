package robots

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jimsmart/grobotstxt"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// FuzzAgainstGoogle holds parser and matcher together to the port of Google's,
// on what the two read alike: text without escapes, and our name alone on its
// line. Its verdict takes the file anew for every path.
func FuzzAgainstGoogle(f *testing.F) {
	for _, c := range readCases(f) {
		robots := strings.ReplaceAll(strings.ToLower(c.robots), strings.ToLower(c.agent), "weft")
		for _, v := range c.verdicts {
			f.Add(robots, v.path)
		}
	}
	f.Add("user-agent: weft\ndisallow: /a*b*c$\nallow: /a*b\nallow: /abc\ndisallow: /ab\ndisallow: /abcd", "/abbcbc")
	f.Fuzz(func(t *testing.T, robots, path string) {
		if !strings.HasPrefix(path, "/") || path == "/robots.txt" || strings.Contains(path, "#") || !unescaped(path, "") ||
			!unescaped(robots, " \t\r\n") || len(robots) > 1<<14 {
			t.Skip("not read alike, by design")
		}
		for line := range strings.FieldsFuncSeq(strings.ToLower(robots), func(r rune) bool { return r == '\n' || r == '\r' }) {
			if _, after, ok := strings.Cut(line, "weft"); ok && after != "" && !strings.ContainsAny(after[:1], " \t#") {
				t.Skip("another name that starts like ours")
			}
		}
		want := grobotstxt.NewRobotsMatcher().AgentAllowed(robots, "weft", "http://host"+path)
		record := Parse(200, []byte(robots), "weft")
		if got := Compile(record).Allowed(path); got != want {
			t.Fatalf("%q: allowed is %t, Google says %t; rules:\n%s", path, got, want, record.GetRules())
		}
	})
}

// unescaped reports whether s is of reserved and unreserved characters, and
// some more, without escapes.
func unescaped(s, more string) bool {
	for i := range len(s) {
		if !plain[s[i]] && strings.IndexByte(more, s[i]) < 0 {
			return false
		}
	}
	return true
}

// TestAgainstGoogle is FuzzAgainstGoogle on patterns and paths that collide.
func TestAgainstGoogle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var robots strings.Builder
		robots.WriteString("User-agent: weft\n")
		for _, pattern := range rapid.SliceOfN(rapid.StringMatching(`[/*][ab*/$]{0,6}\$?`), 1, 8).Draw(t, "patterns") {
			fmt.Fprintf(&robots, "%s: %s\n", rapid.SampledFrom([]string{"Allow", "Disallow"}).Draw(t, "kind"), pattern)
		}
		rules := Compile(Parse(200, []byte(robots.String()), "weft"))
		for _, path := range rapid.SliceOfN(rapid.StringMatching(`/[ab*/$]{0,8}`), 1, 10).Draw(t, "paths") {
			want := grobotstxt.NewRobotsMatcher().AgentAllowed(robots.String(), "weft", "http://host"+path)
			if got := rules.Allowed(path); got != want {
				t.Fatalf("%q: allowed is %t, Google says %t; rules:\n%s", path, got, want, robots.String())
			}
		}
	})
}

// FuzzParse feeds arbitrary files: the record is valid and bounded, means itself
// when it is read as a file, and answers as that one.
func FuzzParse(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add([]byte(c.robots), c.verdicts[0].path)
	}
	f.Add([]byte("User-agent: *\nDisallow: /%%36%31\nDisallow: /%e3%83é\u00a0\nCrawl-delay: 1e9\nSitemap: \xff"), "/%%361")
	f.Add([]byte("User-agent: *\nDisallow: /%0a%0d%\xe3%83\xa9%4é%2f?%3a{\"\x7f\x00}%20%c2%a0"), "/%0A")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		record := Parse(200, body, "weft")
		if _, err := proto.Marshal(record); err != nil {
			t.Fatal(err)
		}
		if len(record.GetRules()) > MaxBytes || record.GetCrawlDelayMs() > 300_000 {
			t.Fatalf("%d bytes of rules, delay %d ms", len(record.GetRules()), record.GetCrawlDelayMs())
		}
		if utf8.Valid(body) && len(record.GetRules()) > len(body) {
			t.Fatalf("%d bytes of rules of a file of %d", len(record.GetRules()), len(body))
		}
		file := fileOf(t, record)
		for line := range strings.Lines(file) {
			if len(line) > 2083*8 || len(file) > MaxBytes {
				t.Skip("the line reader cuts longer lines")
			}
		}
		again := Parse(200, []byte(file), "other")
		if again.GetRules() != record.GetRules() {
			t.Fatalf("reads back as\n%swant\n%s", again.GetRules(), record.GetRules())
		}
		if Compile(record).Allowed(path) != Compile(again).Allowed(path) {
			t.Fatalf("%q: two verdicts of\n%s", path, record.GetRules())
		}
	})
}

// fileOf is a record as a robots.txt.
func fileOf(t *testing.T, record *weftpb.Robots) string {
	var file strings.Builder
	file.WriteString("User-agent: *\n")
	for line := range strings.Lines(record.GetRules()) {
		rule, ok := readRule(strings.TrimSuffix(line, "\n"))
		if !ok {
			t.Fatalf("%q is no rule", line)
		}
		kind := "Disallow"
		if rule.allow {
			kind = "Allow"
		}
		fmt.Fprintf(&file, "%s: %s\n", kind, rule.pattern)
	}
	return file.String()
}

// TestSpellingOfThePath checks that escapes do not change a verdict.
func TestSpellingOfThePath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`/[ab*$/?%é ']{0,6}`)
		var robots strings.Builder
		robots.WriteString("User-agent: *\n")
		for _, pattern := range rapid.SliceOfN(text, 1, 6).Draw(t, "patterns") {
			fmt.Fprintf(&robots, "%s: %s\n", rapid.SampledFrom([]string{"Allow", "Disallow"}).Draw(t, "kind"), pattern)
		}
		rules := Compile(Parse(200, []byte(robots.String()), "weft"))
		path := rapid.StringMatching(`/[ab*$/? ']{0,8}`).Draw(t, "path")
		var spelt strings.Builder
		for _, c := range []byte(path) {
			spelling := "%c"
			if c != '/' && c != '?' {
				spelling = rapid.SampledFrom([]string{"%c", "%%%02x", "%%%02X"}).Draw(t, "spelling")
			}
			fmt.Fprintf(&spelt, spelling, c)
		}
		if rules.Allowed(path) != rules.Allowed(spelt.String()) {
			t.Fatalf("%q and %q differ under\n%s", path, spelt.String(), robots.String())
		}
	})
}

// benchmarkFile is a file of n rules, every fifth with a wildcard.
func benchmarkFile(n int) []byte {
	var b strings.Builder
	b.WriteString("User-agent: *\nAllow: /w/api.php?action=\n")
	for i := range n {
		if i%5 == 0 {
			fmt.Fprintf(&b, "Disallow: /*/section%d/*.php$\n", i)
		} else {
			fmt.Fprintf(&b, "Disallow: /wiki/Special:Page%d/\n", i)
		}
	}
	return []byte(b.String())
}

func BenchmarkAllowed(b *testing.B) {
	for _, n := range []int{10, 50, 500, 10_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			rules := Compile(Parse(200, benchmarkFile(n), "weft"))
			b.ReportAllocs()
			for b.Loop() {
				rules.Allowed("/docs/guide/introduction.html?page=2")
			}
		})
	}
	b.Run("grobotstxt/rules=50", func(b *testing.B) {
		file := string(benchmarkFile(50))
		b.ReportAllocs()
		for b.Loop() {
			grobotstxt.NewRobotsMatcher().AgentAllowed(file, "weft", "http://h/docs/guide/introduction.html?page=2")
		}
	})
}

// The verdicts of a plain group equal our own search, which also says which rule decides.
func TestPlainGroupsJudgeAsPrefixes(t *testing.T) {
	plain := 0
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`/[a-c/%?:2F]{0,5}`)
		var file strings.Builder
		file.WriteString("User-agent: *\n")
		for range rapid.IntRange(0, 6).Draw(t, "rules") {
			fmt.Fprintf(&file, "%s: %s\n", rapid.SampledFrom([]string{"Allow", "Disallow"}).Draw(t, "verb"), text.Draw(t, "rule"))
		}
		rules := Compile(Parse(200, []byte(file.String()), "weft"))
		if rules.plain != nil {
			plain++
		}
		for range 10 {
			path := text.Draw(t, "path")
			_, want := rules.Rule(path)
			if got := rules.Allowed(path); got != want {
				t.Fatalf("%s allowed is %t, want %t, by\n%s", path, got, want, &file)
			}
		}
	})
	if plain == 0 {
		t.Error("no group was plain")
	}
}

func BenchmarkAllowedPlain(b *testing.B) {
	for _, n := range []int{5, 30} {
		var file strings.Builder
		file.WriteString("User-agent: *\n")
		for i := range n {
			fmt.Fprintf(&file, "Disallow: /wiki/Special:Page%d/\n", i)
		}
		rules := Compile(Parse(200, []byte(file.String()), "weft"))
		for name, path := range map[string]string{"other": "/docs/guide/introduction.html?page=2", "alike": "/wiki/Special:Other/introduction.html"} {
			b.Run(fmt.Sprintf("rules=%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					rules.Allowed(path)
				}
			})
			b.Run(fmt.Sprintf("rules=%d/%s/search", n, name), func(b *testing.B) {
				for b.Loop() {
					rules.judge(path)
				}
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{50, 10_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			file := benchmarkFile(n)
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(200, file, "weft")
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	record := Parse(200, benchmarkFile(50), "weft")
	b.ReportAllocs()
	for b.Loop() {
		Compile(record)
	}
}
