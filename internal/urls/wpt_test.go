package urls

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// wptCase is a case of urltestdata.json or toascii.json; the files hold comments
// as strings among them.
type wptCase struct {
	Input   string  `json:"input"`
	Base    *string `json:"base"`
	Href    string  `json:"href"`
	Failure bool    `json:"failure"`
	Output  *string `json:"output"`
}

func wptCases(t *testing.T, name string) (cases []wptCase) {
	t.Helper()
	data, err := os.ReadFile("testdata/wpt/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		var c wptCase
		if item[0] == '"' {
			continue
		}
		if err := json.Unmarshal(item, &c); err != nil {
			t.Fatalf("%s: %v", item, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// wptSince are the cases of urltestdata.json that the standard has decided
// otherwise since the copy of the file was made, and what it says now.
var wptSince = map[string]string{
	// Names in ASCII are not judged (whatwg/url#914, June 2026).
	"http://a.b.c.xn--pokxncvks":  "http://a.b.c.xn--pokxncvks/",
	"http://a.b.c.XN--pokxncvks":  "http://a.b.c.xn--pokxncvks/",
	"http://a.b.c.Xn--pokxncvks":  "http://a.b.c.xn--pokxncvks/",
	"http://10.0.0.xn--pokxncvks": "http://10.0.0.xn--pokxncvks/",
	"http://10.0.0.XN--pokxncvks": "http://10.0.0.xn--pokxncvks/",
	"http://10.0.0.xN--pokxncvks": "http://10.0.0.xn--pokxncvks/",
	"https://xn--/":               "https://xn--/",
}

// TestWPT runs the cases of the web platform tests by outcome. What we expect is
// the href of the case with the changes that doc.go lists; of another scheme, a
// refusal for the scheme; of a failure, any refusal.
func TestWPT(t *testing.T) {
	var since int
	for _, c := range wptCases(t, "urltestdata.json") {
		base, has := &Base{}, c.Base != nil
		if has {
			u, refusal := Parse(*c.Base)
			if base = NewBase(u); refusal != Accepted && strings.HasPrefix(*c.Base, "http") {
				t.Errorf("base %q is refused as %s", *c.Base, refusal)
			}
			has = refusal == Accepted
		}
		name := fmt.Sprintf("%q against %q", c.Input, base.url)
		got, refusal := base.Resolve(c.Input)
		if href, changed := wptSince[c.Input]; changed {
			since++
			c.Href, c.Failure = href, false
		}
		switch {
		case c.Failure:
			if refusal == Accepted {
				t.Errorf("%s is %q, not a failure", name, got)
			}
		case !strings.HasPrefix(c.Href, "http://") && !strings.HasPrefix(c.Href, "https://"):
			// A base of another scheme was refused itself.
			if !refusal.NotCrawlable() && (has || refusal != NotAbsolute) {
				t.Errorf("%s is %q %s, of another scheme by the standard: %q", name, got, refusal, c.Href)
			}
		default:
			if want := plain(c.Href); got.String() != want || refusal != Accepted {
				t.Errorf("%s is %q %s, want %q", name, got, refusal, want)
			}
		}
	}
	if since != len(wptSince) {
		t.Errorf("%d cases have changed since, %d are listed", since, len(wptSince))
	}
}

// plain makes the changes of the plain form to a href of the standard.
func plain(href string) string {
	href, _, _ = strings.Cut(href, "#")
	scheme, rest, _ := strings.Cut(href, "://")
	slash := strings.IndexByte(rest, '/')
	authority := rest[:slash]
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	host := WithoutPort(authority)
	authority = withoutFinalDot(host) + authority[len(host):]
	path, _ := appendEscaped(nil, rest[slash:], &[256]class{'%': percent})
	return scheme + "://" + authority + string(path)
}

// forbiddenInDomain is a forbidden domain code point.
func forbiddenInDomain(r rune) bool {
	return r <= ' ' || r == 0x7f || strings.ContainsRune("#%/:<>?@[\\]^|", r)
}

// TestWPTToASCII runs the cases of toascii.json as hosts.
func TestWPTToASCII(t *testing.T) {
	for _, c := range wptCases(t, "toascii.json") {
		checkHost(t, c.Input, c.Output)
	}
}

// checkHost holds the host of https://domain/ against what it must be, nil for
// a failure. The domain is percent-encoded, so that it is a host whatever it
// holds. Names in ASCII are not judged since whatwg/url#914 of June 2026, which
// both suites are older than.
func checkHost(t *testing.T, domain string, want *string) {
	t.Helper()
	var raw strings.Builder
	for _, c := range []byte(domain) {
		fmt.Fprintf(&raw, "%%%02x", c)
	}
	got, refusal := Parse("https://" + raw.String() + "/")
	if isASCII(domain) {
		lower := strings.ToLower(domain)
		want = &lower
	}
	switch {
	case want == nil || *want == "" || strings.ContainsFunc(*want, forbiddenInDomain):
		if refusal == Accepted {
			t.Errorf("%q is the host %q, not a failure", domain, got.Hostname())
		}
	case endsInNumber(*want):
		if address, r := parseIPv4(*want); address != got.Hostname() || r != refusal {
			t.Errorf("%q is the host %q, want address %q %s", domain, got.Hostname(), address, r)
		}
	case got.Hostname() != withoutFinalDot(*want):
		t.Errorf("%q is the host %q %s, want %q", domain, got.Hostname(), refusal, *want)
	}
}
