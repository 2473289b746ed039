package robots

import (
	"strings"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/urls"
)

// Preferences are what a file says about the use of pages, not about fetching them. Content-Usage
// is AIPREF's (draft-ietf-aipref-attach, "Robots Exclusion Protocol"), Content-Signal Cloudflare's
// (contentsignals.org). Both are lines of a group, with a pattern in front if they do not hold for
// all paths. They are kept as they were written: package document reads them.
//
// In a record a preference is a line: its name, its pattern in normal form and its value, parted by
// tabs.

const (
	maxUsageLines = 1000
	maxUsageBytes = 64 << 10
	// maxUsage bounds what Usage says of one URL, because each request carries it.
	maxUsage = 512
)

// isUsage tells whether an action states a preference, and returns its name.
func isUsage(action string) (name string, ok bool) {
	for _, name := range []string{"content-usage", "content-signal"} {
		if strings.EqualFold(action, name) {
			return name, true
		}
	}
	return "", false
}

// preference is a line of a record for a preference; empty: the value says nothing.
func preference(name, value string) string {
	pattern := "/"
	if value = strings.TrimSpace(value); strings.HasPrefix(value, "/") || strings.HasPrefix(value, "*") {
		end := strings.IndexAny(value, " \t")
		if end < 0 {
			return ""
		}
		pattern, value = value[:end], strings.TrimSpace(value[end:])
	}
	if value = strings.Map(printable, value); value == "" || len(value) > maxUsage/2 {
		return ""
	}
	return name + "\t" + normalPattern(pattern) + "\t" + value + "\n"
}

// printable tells which characters a value has: values of structured fields are ASCII (RFC 9651).
func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

func writeUsage(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if i == maxUsageLines || b.Len()+len(line) > maxUsageBytes {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// Usage returns what the robots.txt of a record says about the use of a URL, as the lines
// "content-usage: train-ai=n" and "content-signal: ai-train=no"; empty: nothing. Of each name the
// longest pattern that matches counts, and all lines with one as long.
func Usage(r *weftpb.Robots, url string) string {
	if r.GetUsage() == "" {
		return ""
	}
	u, refusal := urls.Parse(url)
	if refusal != urls.Accepted {
		return ""
	}
	path := newPath(u.PathAndQuery())
	longest := map[string]int{}
	said := map[string]string{}
	for line := range strings.Lines(r.GetUsage()) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		text, value, ok := strings.Cut(rest, "\t")
		if !ok || len(text) < longest[name] {
			continue
		}
		if p := newPattern(text, true); !p.matches(&path) {
			continue
		}
		if len(text) > longest[name] {
			longest[name], said[name] = len(text), value
		} else {
			said[name] += ", " + value
		}
	}
	var b strings.Builder
	for _, name := range []string{"content-usage", "content-signal"} {
		if value := said[name]; value != "" && b.Len()+len(name)+len(value)+3 <= maxUsage {
			b.WriteString(name + ": " + value + "\n")
		}
	}
	return b.String()
}
