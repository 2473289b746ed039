package warc

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weftcrawl/weft/test/child"
)

// keys has URLs and their keys by surt 0.3.1.
var keys = map[string]string{
	"http://www.Example.com/":                                      "com,example)/",
	"https://example.com:443/A/b/?z=1&B=2":                         "com,example)/a/b?b=2&z=1",
	"http://a.example.co.uk:8080":                                  "uk,co,example,a:8080)/",
	"http://127.0.0.1/x":                                           "1,0,0,127)/x",
	"http://[2001:db8::1]/":                                        "2001:db8::1)/",
	"http://[2001:db8::1]:81/":                                     "2001:db8::1:81)/",
	"not a url":                                                    "not%20a%20url)/",
	"dns:Example.com":                                              "dns:example.com",
	"http://user:p@WWW2.example.com.:80/#f":                        "com,example)/",
	"https://example.com:80/":                                      "com,example:80)/",
	"https://example.com/100%":                                     "com,example)/100%25",
	"https://example.com/a|b[1]":                                   "com,example)/a|b[1]",
	"https://example.com/x//y":                                     "com,example)/x/y",
	"https://example.com/a/./b/../%2E%2e/c/":                       "com,example)/c",
	"https://example.com/../a":                                     "com,example)/../a",
	"https://example.com/tag/C%2B%2B":                              "com,example)/tag/c++",
	"https://example.com/caf%C3%A9?%C3%89":                         "com,example)/caf%c3%a9?%c3%89",
	"https://example.com/a%252520b%23":                             "com,example)/a%20b%23",
	"https://example.com/login?next=https%3A%2F%2Fexample.com%2Fa": "com,example)/login?next=https://example.com/a",
	"https://example.com/?t=a%2Cb":                                 "com,example)/?t=a,b",
	"https://example.com/?j=%22A%22":                               `com,example)/?j="a"`,
	"https://example.com/?":                                        "com,example)/",
	"https://example.com/?a=1&a-b=2&a&a=":                          "com,example)/?a&a=&a=1&a-b=2",
	"https://example.com/?PHPSESSID=" + hex32 + "&x=1":             "com,example)/?x=1",
	"https://example.com/?x=1&sid=" + hex32:                        "com,example)/?&x=1",
	"https://example.com/?jsessionid=" + hex32:                     "com,example)/",
	"https://example.com/?CFID=1&CFTOKEN=2&x":                      "com,example)/?x",
	"https://example.com/(S(" + hex32[:24] + "))/a.aspx":           "com,example)/a.aspx",
	"https://example.com/(" + hex32[:24] + ")/a.aspx/":             "com,example)/a.aspx",
}

const hex32 = "0123456789ABCDEF0123456789abcdef"

func TestSURT(t *testing.T) {
	for target, want := range keys {
		if got := SURT(target); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}

// Indexes of earlier versions are searched with their keys.
func TestKeys(t *testing.T) {
	for target, want := range map[string][]string{
		"https://example.com/a?b=1": {"com,example)/a?b=1"},
		"https://example.com/100%":  {"com,example)/100%25", "https://example.com/100%"},
		"https://example.com/x//y":  {"com,example)/x/y", "com,example)/x//y"},
	} {
		if got := Keys(target); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

// The package surt makes the same keys of common URLs and of random ones.
func TestOutsidersAgreeOnKeys(t *testing.T) {
	python := child.Program(t, "warc-readers/bin/python")
	var urls []string
	for target := range keys {
		urls = append(urls, target)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		urls = append(urls, randomURL(random))
	}
	cmd := exec.Command(python, "-c", "import sys, surt\nfor line in sys.stdin.buffer: print(surt.surt(line[:-1]).decode())")
	cmd.Stdin = strings.NewReader(strings.Join(urls, "\n") + "\n")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	want := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i, target := range urls {
		if diff := cmp.Diff(want[i], SURT(target)); diff != "" {
			t.Fatalf("%q (-theirs +ours):\n%s", target, diff)
		}
	}
}

// randomURL is a URL of parts that are easy to get wrong.
func randomURL(random *rand.Rand) string {
	some := func(most int, parts ...string) (text string) {
		for range random.IntN(most + 1) {
			text += parts[random.IntN(len(parts))]
		}
		return text
	}
	one := func(parts ...string) string { return parts[random.IntN(len(parts))] }
	text := one("http", "https", "HTTP", "ftp") + "://" + one("", "", "", "user@", "u:p@") +
		one("example.com", "www.example.com", "WWW12.Ex.co.uk", "www.com", "a..b.example", "127.0.0.1", "[2001:DB8::1]", "xn--bcher-kva.example", "a%41.example", "a_b.example.") +
		one("", "", "", ":80", ":443", ":8080", ":")
	if path := some(8, "/", "/", "/a", "B", ".", "/..", "/.", "%2e", "%2F", "%25", "%2525", "%252541", "%", "%zz", "%%41", "c%2B%2B", "é", "|", "[1]", "\\", "~", "%0a", "%7f", "%23", "%3f",
		";x=1", "=", "&", "/(S("+hex32[:24]+"))/", "/("+hex32[:24]+")/", "a.aspx", ".ASPX", "\x80", "\x01", "a b"); path != "" {
		text += "/" + path
	}
	if random.IntN(3) > 0 {
		text += "?" + some(6, "&", "&", "a", "a=", "a-b=1", "B=2", "=", "z=%26", "%3d", "?", "/../", "//", "é", "%C3%A9", "+", "%20", "\"", "'", "{", "sid="+hex32, "PHPSESSID="+hex32, "jsessionid="+hex32,
			"ASPSESSIONIDabcdEFGH="+"abcdefghijklmnopqrstuvwx", "cfid=1&cftoken=2", "CFTOKEN=3", hex32, "%", "%2525", "x=http%3A%2F%2Fb%2F")
	}
	if random.IntN(5) == 0 {
		text += "#a?b"
	}
	return text
}

// A key is one word of ASCII, whatever the URL is, and the lines of an index stay sorted by it.
func FuzzSURT(f *testing.F) {
	for target := range keys {
		f.Add(target)
	}
	f.Add("http://")
	f.Add("0: ")
	f.Fuzz(func(t *testing.T, target string) {
		if key := SURT(target); strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("the key of %q is %q", target, key)
		}
	})
}
