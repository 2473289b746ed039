package robots

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	codeunits "unicode/utf16"

	"google.golang.org/protobuf/proto"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

const (
	rulesHold   = weftpb.Robots_ACCESS_RULES
	allowAll    = weftpb.Robots_ACCESS_ALLOW_ALL
	disallowAll = weftpb.Robots_ACCESS_DISALLOW_ALL
)

func TestParseStatus(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /x\n")
	for _, c := range []struct {
		status int
		want   weftpb.Robots_Access
	}{
		{200, rulesHold}, {204, rulesHold}, {299, rulesHold},
		{301, allowAll}, {399, allowAll}, {400, allowAll}, {401, allowAll}, {403, allowAll}, {404, allowAll}, {410, allowAll}, {499, allowAll},
		{429, disallowAll}, {500, disallowAll}, {503, disallowAll}, {599, disallowAll}, {600, disallowAll}, {999, disallowAll},
		{0, disallowAll}, {-1, disallowAll}, {100, disallowAll},
	} {
		r := Parse(c.status, body, "weft")
		if r.GetAccess() != c.want {
			t.Errorf("%d gives %s, want %s", c.status, r.GetAccess(), c.want)
		}
		if c.status >= 0 && int(r.GetStatus()) != c.status {
			t.Errorf("%d is recorded as %d", c.status, r.GetStatus())
		}
		if lasting := r.GetTtlMs() == TTL.Milliseconds(); lasting == (c.want == disallowAll) {
			t.Errorf("%d holds for %d ms", c.status, r.GetTtlMs())
		}
		rules := Compile(r)
		for path, want := range map[string]bool{
			"/robots.txt": true,
			"/x":          c.want == allowAll,
			"/y":          c.want != disallowAll,
		} {
			if got := rules.Allowed(path); got != want {
				t.Errorf("%d: %s allowed is %t", c.status, path, got)
			}
		}
	}
}

func TestCompileOfNothingDisallows(t *testing.T) {
	for _, r := range []*weftpb.Robots{nil, {}} {
		if rules := Compile(r); rules.Allowed("/") || !rules.Allowed("/robots.txt") {
			t.Errorf("%v: / allowed is %t, /robots.txt %t", r, rules.Allowed("/"), rules.Allowed("/robots.txt"))
		}
	}
}

func TestParseKeepsOurGroupInNormalForm(t *testing.T) {
	r := Parse(200, []byte("\ufeff# A comment\r\nUser-agent: Other\r\nDisallow: /\r\n\r\nUser-agent: weft\r\n"+
		"Disallow:/a%7eb%c3%a9é # x\r\nallow:\t/c d\r\nDisallow: /a~b%C3%A9%C3%A9\r\nDisallow: relative\r\nDisallow:\r\n"+
		"Allow: /%2a%24/*$\r\nAllow: /dir/index.html\r\n"), "weft")
	want := "-/a~béé\n+/c d\n+/%2A%24/*$\n+/dir/index.html\n"
	if got := r.GetRules(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestCrawlDelay(t *testing.T) {
	for _, c := range []struct {
		robots string
		want   uint32 // milliseconds
	}{
		{"User-agent: *\nCrawl-delay: 10", 10_000},
		{"User-agent: *\nCRAWL-DELAY : 0.5", 500},
		{"User-agent: *\nCrawldelay: 0.0001", 1},
		{"User-agent: *\nCrawl-delay: 301", 300_000},
		{"User-agent: *\nCrawl-delay: 1e300", 300_000},
		{"User-agent: *\nCrawl-delay: 1e309", 300_000},
		{"User-agent: *\nCrawl-delay: " + strings.Repeat("9", 400), 300_000},
		{"User-agent: *\nCrawl-delay: +.5", 500},
		{"User-agent: *\nCrawl-delay: 5.", 5_000},
		{"User-agent: *\nCrawl-delay: Inf", 0},
		{"User-agent: *\nCrawl-delay: -1", 0},
		{"User-agent: *\nCrawl-delay: -1e309", 0},
		{"User-agent: *\nCrawl-delay: 1e-400", 0},
		{"User-agent: *\nCrawl-delay: NaN", 0},
		{"User-agent: *\nCrawl-delay: ten", 0},
		{"User-agent: *\nCrawl-delay:", 0},
		{"User-agent: *\nCrawl-delay: 2\nCrawl-delay: 3\nCrawl-delay: 1", 3_000},
		{"User-agent: *\nDisallow: /\nCrawl-delay: 7", 7_000},
		{"User-agent: *\nCrawl-delay: 9\nUser-agent: weft\nCrawl-delay: 4", 4_000},
		{"User-agent: weft\nCrawl-delay: 4\nUser-agent: *\nCrawl-delay: 9", 4_000},
		{"User-agent: *\nCrawl-delay: 9\nUser-agent: weft\nDisallow: /x", 0},
		{"User-agent: weft\nUser-agent: other\nCrawl-delay: 4", 4_000},
		{"User-agent: other\nCrawl-delay: 4", 0},
		{"Crawl-delay: 4\nUser-agent: *\nDisallow: /", 0},
		{"User-agent: *\nRequest-rate: 1/10\nVisit-time: 0100-0200\nCrawl-delay: 2", 2_000},
		{"User-agent: weft\nRequest-rate: 1/10\nUser-agent: other\nCrawl-delay: 2", 2_000},
		{"User-agent: *\nCrawl-delay: 2 # seconds", 2_000},
		{"User-agent: *\nCrawl-delay: 2s", 0},
		{"User-agent: *\nCrawl-delay: 0x10", 0},
		{"User-agent: *\nCrawl-delay: 0x1p4", 0},
		{"User-agent: *\nCrawl-delay: 1_0", 0},
		{"User-agent: *\nCrawl-delay: 1,5", 0},
	} {
		if got := Parse(200, []byte(c.robots), "weft").GetCrawlDelayMs(); got != c.want {
			t.Errorf("%q gives %d ms, want %d", c.robots, got, c.want)
		}
	}
}

func TestSitemaps(t *testing.T) {
	r := Parse(200, []byte("Sitemap: https://h/a.xml\nUser-agent: other\nDisallow: /\nSITEMAP:https://h/é.xml\n"+
		"Site-map: https://h/a.xml\nSitemap:\nSitemap: https://h/"+strings.Repeat("x", 2048)+"\nSitemap: /b.xml"), "weft")
	want := []string{"https://h/a.xml", "https://h/%C3%A9.xml", "/b.xml"}
	if got := r.GetSitemaps(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestForms checks that a file means the same in all usual forms.
func TestForms(t *testing.T) {
	for name, file := range map[string]string{
		"plain":                  "User-agent: *\nDisallow: /a\nDisallow: /c\n",
		"no line end":            "User-agent: *\nDisallow: /a\nDisallow: /c",
		"mixed line ends":        "User-agent: *\r\nDisallow: /a\rDisallow: /c\n\r",
		"byte order mark":        "\ufeffUser-agent: *\nDisallow: /a\nDisallow: /c\n",
		"part of a mark":         "\xefUser-agent: *\nDisallow: /a\nDisallow: /c\n",
		"most of a mark":         "\xef\xbbUser-agent: *\nDisallow: /a\nDisallow: /c\n",
		"UTF-16":                 utf16(binary.LittleEndian, "\ufeffUser-agent: *\r\nDisallow: /a\r\nDisallow: /c\r\n"),
		"UTF-16, big-endian":     utf16(binary.BigEndian, "\ufeffUser-agent: *\nDisallow: /a\nDisallow: /c"),
		"UTF-16, an odd byte":    utf16(binary.LittleEndian, "\ufeffUser-agent: *\nDisallow: /a\nDisallow: /c\n#") + "\x00x",
		"UTF-16 that is broken":  utf16(binary.LittleEndian, "\ufeffUser-agent: *\nDisallow: /a\nDisallow: /c\n") + "\x00\xd8",
		"empty lines in a group": "User-agent: *\n\n\n\nDisallow: /a\n\nDisallow: /c\n",
		"space":                  " \tUser-agent\t:\t* \n  Disallow :/a\t\n Disallow\t:  /c  \n",
		"no colons":              "User-agent *\nDisallow /a\nDisallow /c\n",
		"comments":               "# robots\nUser-agent: * # all\nDisallow: /a#b\nDisallow: /c # d\n",
		"names in any case":      "USER-AGENT: *\ndisallow: /a\nDisAllow: /c\n",
		"names misspelt":         "useragent: *\ndissallow: /a\ndisalow: /c\n",
		"NUL":                    "\x00\nUser-agent: *\nDisallow: /a\n\x00\x00Disallow: /b\nDisallow: /c\n",
		"other records":          "User-agent: *\nHost: h\nClean-param: x /y\nDisallow: /a\nRequest-rate: 1/5\nNoindex: /b\nDisallow: /c\n",
		"two groups":             "User-agent: *\nDisallow: /a\n\nUser-agent: other\nDisallow: /b\n\nUser-agent: *\nDisallow: /c\n",
		"from a web page":        "User-agent:\u00a0*\nDisallow:\u00a0/a\nDisallow:\u00a0/c\n",
		"no-break spaces":        "\u00a0User\u00a0agent\u00a0:\t\u00a0*\u00a0all\r\nDisallow:\u00a0\u00a0/a\u00a0 \r\nDisallow\u00a0 /c\u00a0# d\u00a0e",
	} {
		rules := Compile(Parse(200, []byte(file), "weft"))
		if rules.Allowed("/a") || !rules.Allowed("/b") || rules.Allowed("/c") {
			t.Errorf("%s: /a allowed is %t, /b %t, /c %t", name, rules.Allowed("/a"), rules.Allowed("/b"), rules.Allowed("/c"))
		}
	}
	for name, file := range map[string]string{
		"empty": "", "only a mark": "\ufeff", "only a comment": "# nothing", "only a part of a mark": "\xef\xbb",
		"UTF-16 without a mark": "U\x00s\x00e\x00r\x00", "a mark of UTF-16": "\xff\xfe", "half a mark of UTF-16": "\xff",
	} {
		if !Compile(Parse(200, []byte(file), "weft")).Allowed("/") {
			t.Errorf("%s: / is not allowed", name)
		}
	}
}

// utf16 writes a text in UTF-16.
func utf16(order binary.AppendByteOrder, text string) string {
	var b []byte
	for _, unit := range codeunits.Encode([]rune(text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// TestUTF16IsCutAfterALine checks that a file in UTF-16 is cut by its characters:
// U+0A0D has the bytes of line ends.
func TestUTF16IsCutAfterALine(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		file := utf16(order, "\ufeffUser-agent: *\nDisallow: /é\nDisallow: /x\u0a0dy")
		want := "User-agent: *\nDisallow: /é\n"
		for cut := range 16 {
			if got := string(WholeLines([]byte(file[:len(file)-cut]))); got != want {
				t.Errorf("%v, %d bytes cut: %q", order, cut, got)
			}
		}
		if rules := Compile(Parse(200, []byte(file), "weft")); rules.Allowed("/%C3%A9") || !rules.Allowed("/x") {
			t.Errorf("%v: /é allowed is %t, /x %t", order, rules.Allowed("/%C3%A9"), rules.Allowed("/x"))
		}
	}
}

// TestNoBreakSpaceOfAPath checks that no octet of a path counts as space.
func TestNoBreakSpaceOfAPath(t *testing.T) {
	for _, line := range []string{"Disallow: /a\u00a0b", "Disallow /a\u00a0b", "\u00a0Disallow:\u00a0/a\u00a0b\u00a0"} {
		rules := Compile(Parse(200, []byte("User-agent: *\n"+line), "weft"))
		if rules.Allowed("/a%C2%A0b") || !rules.Allowed("/a%20b") {
			t.Errorf("%q: /a%%C2%%A0b allowed is %t, /a%%20b %t", line, rules.Allowed("/a%C2%A0b"), rules.Allowed("/a%20b"))
		}
	}
}

func TestOneBrokenLineCostsItself(t *testing.T) {
	for _, broken := range []string{
		"<html><body>", "Disallow", ":", ": /", "Crawl-delay: x", "Disallow: %zz", "\x00\xff\xfe", "User-agent", "Allow: [*",
		strings.Repeat("x", 1<<16), "Disallow: /" + strings.Repeat("*x", 1<<16),
	} {
		rules := Compile(Parse(200, []byte("User-agent: *\nDisallow: /a\n"+broken+"\nDisallow: /c\n"), "weft"))
		if rules.Allowed("/a") || !rules.Allowed("/b") || rules.Allowed("/c") {
			t.Errorf("%.40q: /a allowed is %t, /b %t, /c %t", broken, rules.Allowed("/a"), rules.Allowed("/b"), rules.Allowed("/c"))
		}
	}
}

// TestBounds checks that a record stays below the 512 KiB of a ledger event,
// whatever the file.
func TestBounds(t *testing.T) {
	var many, latin1, sitemaps strings.Builder
	many.WriteString("User-agent: *\n")
	latin1.WriteString("User-agent: *\nAllow: /page\n")
	for i := range 40_000 {
		fmt.Fprintf(&many, "Disallow: /%d\n", i)
		fmt.Fprintf(&latin1, "Disallow: /%d%s\n", i, strings.Repeat("\xe9", 30))
		fmt.Fprintf(&sitemaps, "Sitemap: https://h/%d/%s\n", i, strings.Repeat("x", i%2000))
	}
	for name, body := range map[string]string{
		"many rules": many.String(), "rules that grow": latin1.String(), "sitemaps": sitemaps.String(),
		"both": many.String()[:MaxBytes/2] + "\n" + sitemaps.String(), "one line": strings.Repeat("x", 2*MaxBytes),
	} {
		if size := proto.Size(Parse(200, []byte(body), "weft")); size > MaxBytes+5*maxSitemaps {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
	// What does not fit is not allowed.
	if rules := Compile(Parse(200, []byte(latin1.String()), "weft")); rules.Allowed("/39999%E9") || rules.Allowed("/page") || !rules.Allowed("/robots.txt") {
		t.Error("rules that do not fit allow something")
	}
}

// TestEveryRuleOfAFileHolds checks that no rule of 500 KiB of a file is lost, however short its
// line is.
func TestEveryRuleOfAFileHolds(t *testing.T) {
	for name, test := range map[string]struct{ line, path string }{
		"no spaces":       {"Disallow:/d%05d", "/d%05d"},
		"shortest name":   {"disalow /%05d", "/%05d"},
		"Cyrillic":        {"Disallow: /каталог/раздел/товар-%05d", "/каталог/раздел/товар-%05d"},
		"not in a URI":    {"disallow:/{%05d}|\"<\\>^`", "/{%05d}|%%22%%3C%%5C%%3E%%5E%%60"},
		"index pages":     {"allow:/directory-of-things-%05d/index.htm\ndisallow:/%05[1]d", "/%05d"},
		"Latin-1, seldom": {"Disallow: /caf\xe9-%05d", "/caf%%E9-%05d"},
	} {
		file := []byte("User-agent:*")
		last := -1
		for {
			longer := fmt.Appendf(append(file, '\n'), test.line, last+1)
			if len(longer) > MaxBytes {
				break
			}
			file, last = longer, last+1
		}
		record := Parse(200, file, "weft")
		rules := Compile(record)
		for _, i := range []int{0, last / 2, last} {
			if path := fmt.Sprintf(test.path, i); rules.Allowed(path) {
				t.Errorf("%s: %s is allowed; %d bytes of rules of a file of %d", name, path, len(record.GetRules()), len(file))
			}
		}
		if !rules.Allowed("/other") {
			t.Errorf("%s: /other is not allowed", name)
		}
	}
}

// TestWildcardsAreBounded checks that all rules count that are searched for, up to
// a bound, and that beyond it nothing is allowed.
func TestWildcardsAreBounded(t *testing.T) {
	const allowed = "/page/"
	for name, test := range map[string]struct {
		lines string // those before n lines of line
		line  string
		n     int
		want  bool
	}{
		"as many as may be":         {"", "Disallow: /*/%d.html", maxSearched, true},
		"one more":                  {"", "Disallow: /*/%d.html", maxSearched + 1, false},
		"one more, that allow":      {"Disallow: /d\n", "Allow: *%x*~", maxSearched + 1, false},
		"one that is not ours":      {"Disallow: /*/x\nUser-agent: other\n", "Disallow: /*/%d.html", maxSearched + 1, true},
		"the same again":            {"", "Disallow: /*.html$ # %d", maxSearched + 1, true},
		"at the end only":           {"", "Disallow: /%d/*", 2 * maxSearched, true},
		"at the end only, anchored": {"", "Disallow: /%d/**$", 2 * maxSearched, true},
		"before a dollar":           {"", "Disallow: /%d/*$*", maxSearched + 1, false},
		"none":                      {"", "Disallow: /%d/$", 2 * maxSearched, true},
		"escaped":                   {"", "Disallow: /%%2A/%d", 2 * maxSearched, true},
	} {
		var file strings.Builder
		file.WriteString("User-agent: *\nCrawl-delay: 7\n" + test.lines)
		for i := range test.n {
			fmt.Fprintf(&file, test.line+"\n", i)
		}
		record := Parse(200, []byte(file.String()), "weft")
		rules := Compile(record)
		if got := rules.Allowed(allowed); got != test.want || !rules.Allowed("/robots.txt") {
			t.Errorf("%s: %s allowed is %t, /robots.txt %t", name, allowed, got, rules.Allowed("/robots.txt"))
		}
		if record.GetCrawlDelayMs() != 7000 {
			t.Errorf("%s: Crawl-delay of %d ms", name, record.GetCrawlDelayMs())
		}
	}
}

// TestRunsOfWildcards checks that a run of wildcards matches as one does, and as
// quickly, but counts by its octets.
func TestRunsOfWildcards(t *testing.T) {
	run := strings.Repeat("*", 5000)
	rules := Compile(Parse(200, []byte("User-agent: *\nAllow: /*a*b\nDisallow: /"+run+"a"+run+"c\nDisallow: /**a*b\n"), "weft"))
	for path, want := range map[string]bool{"/xaxb": false, "/xaxc": false, "/xcxa": true} {
		if rules.Allowed(path) != want {
			t.Errorf("%s allowed is %t", path, !want)
		}
	}
	for _, p := range rules.patterns {
		if len(p.pieces) > 3 {
			t.Errorf("%.20s is searched in %d pieces", p.text, len(p.pieces))
		}
	}
}

// TestRecordsOfEarlierVersions checks that rules in old ledgers stay in force.
func TestRecordsOfEarlierVersions(t *testing.T) {
	rules := Compile(&weftpb.Robots{
		Access: weftpb.Robots_ACCESS_RULES, Rules: "User-agent: *\nDisallow: /a?u=%3A\nAllow: /a/index.html\nAllow: /a/$\nDisallow: /a%C3%A9\n",
	})
	for path, want := range map[string]bool{"/a?u=:": false, "/a/": true, "/a/index.html": true, "/aé": false, "/b": true} {
		if got := rules.Allowed(path); got != want {
			t.Errorf("%s allowed is %t", path, got)
		}
	}
}

func TestFileIsCutAfterALine(t *testing.T) {
	head := "User-agent: *\nDisallow: /kept\n"
	filler := strings.Repeat("# 16 bytes long\n", MaxBytes)
	body := head + filler[:MaxBytes-len(head)-len("Disallow: /")] + "Disallow: /cut/off\n"
	rules := Compile(Parse(200, []byte(body), "weft"))
	if rules.Allowed("/kept") || !rules.Allowed("/other") {
		t.Errorf("/kept allowed is %t, /other %t", rules.Allowed("/kept"), rules.Allowed("/other"))
	}
}

func TestHash(t *testing.T) {
	hash := func(status int, body string) string { return string(Parse(status, []byte(body), "weft").GetHash()) }
	same := hash(200, "User-agent: *\nDisallow: /a\nSitemap: b\n")
	if len(same) != 16 {
		t.Errorf("%d bytes long", len(same))
	}
	if other := hash(203, "# comment\nUser-agent: x\nDisallow: /x\nUser-agent: *\nDisallow: /%61\nSitemap: b"); other != same {
		t.Error("two records that mean the same have two hashes")
	}
	seen := map[string]string{same: "the first"}
	for _, c := range []struct {
		status int
		body   string
	}{
		{200, ""}, {404, ""}, {500, ""}, {200, "User-agent: *\nDisallow: /a"}, {200, "User-agent: *\nAllow: /a\nSitemap: b"},
		{200, "User-agent: *\nDisallow: /a\nCrawl-delay: 1\nSitemap: b"}, {200, "User-agent: *\nDisallow: /a\nSitemap: b\nSitemap: c"},
		{200, "User-agent: *\nDisallow: /a\nSitemap: bc"},
	} {
		h := hash(c.status, c.body)
		if before, ok := seen[h]; ok {
			t.Errorf("%d %q has the hash of %s", c.status, c.body, before)
		}
		seen[h] = fmt.Sprintf("%d %q", c.status, c.body)
	}
}

func TestProductToken(t *testing.T) {
	for _, c := range []struct{ userAgent, want string }{
		{"weft", "weft"},
		{"Weft/0.1 (+https://example.com/)", "Weft"},
		{"Mozilla/5.0 (compatible; Weft-Bot/0.1; +https://example.com/)", "Weft-Bot"},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Weft/1.0; +https://example.com/) Chrome/140.0", "Weft"},
		{"ExampleBot/1.0 (compatible; Linux x86_64; +https://example.com/)", "ExampleBot"},
		{"Mozilla/5.0 (X11; Linux x86_64)", "Mozilla"},
		{"Mozilla/5.0 (compatible; +https://example.com/)", "Mozilla"},
		{"archive.org_bot", "archive.org_bot"},
		{" weft ", "weft"},
		{"(compatible; WeftBot/1.0; +https://example.com/bot)", "WeftBot"},
		{"(nobody)", ""},
		{"", ""},
	} {
		if got := ProductToken(c.userAgent); got != c.want {
			t.Errorf("ProductToken(%q) = %q, want %q", c.userAgent, got, c.want)
		}
	}
	if !Compile(Parse(200, []byte("User-agent:\nDisallow: /"), "")).Allowed("/") {
		t.Error("an agent without a name is named by an empty line")
	}
}

// Rules that a record cannot hold are not reported as a rule of the file.
func TestUnheldRulesAreNoDisallow(t *testing.T) {
	var many strings.Builder
	many.WriteString("User-agent: *\n")
	for n := range maxSearched + 1 {
		fmt.Fprintf(&many, "Disallow: /*/%d.html\n", n)
	}
	for name, test := range map[string]struct {
		file   string
		unheld bool
		rule   string
	}{
		"too many":   {many.String(), true, ""},
		"everything": {"User-agent: *\nDisallow: /\n", false, "Disallow: /"},
	} {
		r := Parse(200, []byte(test.file), "weft")
		rule, allowed := Compile(r).Rule("/a")
		if allowed || rule != test.rule || Unheld(r) != test.unheld {
			t.Errorf("%s: %q, allowed %v, unheld %v", name, rule, allowed, Unheld(r))
		}
	}
}
