package plain

import (
	"fmt"
	"strings"
)

// page collects what a reader gives.
type page struct {
	title    string
	text     strings.Builder
	headings []string
	links    []string
}

func (p *page) Field(name, value string) {
	if name == "title" {
		p.title = value
	}
}
func (p *page) Block()               { p.text.WriteByte('\n') }
func (p *page) Fold(text string)     { p.text.WriteString(strings.ReplaceAll(text, "\n", " ")) }
func (p *page) Verbatim(text string) { p.text.WriteString(text) }
func (p *page) Heading(level int, text string) {
	p.headings = append(p.headings, fmt.Sprintf("%d %s", level, fold(text)))
}

func (p *page) Link(url, text string, image bool) {
	kind := "a"
	if image {
		kind = "image"
	}
	p.links = append(p.links, strings.TrimSpace(kind+" "+url+" "+fold(text)))
}

func (p *page) lines() (lines []string) {
	for line := range strings.Lines(p.text.String()) {
		if line = fold(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
