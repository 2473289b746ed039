package document

import (
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/httpfield"
)

// Directive is one statement of a site about what may be done with a page, as written.
type Directive struct {
	// Source is where: FromHeader, FromMeta or FromRobotsTxt.
	Source string
	// Field is the name of the header field, the meta element or the line, in lower case:
	// x-robots-tag, robots, content-usage, content-signal, tdm-reservation, tdm-policy.
	Field string
	// Agent is the agent that it is for; empty: all agents.
	Agent string
	Value string
}

// Sources of directives.
const (
	FromHeader    = "header"
	FromMeta      = "meta"
	FromRobotsTxt = "robots.txt"
)

// Preference says whether a page may be used for something (AIPREF, draft-ietf-aipref-vocab).
type Preference struct {
	// Label is the use, in lower case: train-ai, search, tdm, or whatever else was said.
	Label string
	// Refused: it may not.
	Refused bool
}

// Field is a header field with preferences: its name, in lower case, and value.
type Field struct{ Name, Value string }

// IsUsageField tells whether a header field states a preference.
func IsUsageField(name string) bool {
	switch {
	case len(name) < len("tdm-policy") || len(name) > len("tdm-reservation"):
		return false
	case strings.EqualFold(name, "content-usage"), strings.EqualFold(name, "content-signal"),
		strings.EqualFold(name, "tdm-reservation"), strings.EqualFold(name, "tdm-policy"):
		return true
	}
	return false
}

const (
	maxDirectives  = 64
	maxPreferences = 32
	maxLabelBytes  = 64
)

// statements takes what the header and robots.txt say.
func (c *collector) statements(in Input) {
	for _, value := range in.RobotsTags {
		eachDirective(value, func(agent, directive string) { c.robotsTag(FromHeader, "x-robots-tag", agent, directive) })
	}
	for _, f := range in.UsageFields {
		c.usage(FromHeader, strings.ToLower(f.Name), f.Value)
	}
	for line := range strings.Lines(in.RobotsTxt) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok {
			c.usage(FromRobotsTxt, name, value)
		}
	}
}

// robotsTag takes one directive of a robots meta element or an X-Robots-Tag header. "noai" is not a
// standard; sites of artists began it, and mean training.
func (c *collector) robotsTag(source, field, agent, directive string) {
	if directive == "" {
		return
	}
	c.directive(Directive{Source: source, Field: field, Agent: agent, Value: directive})
	if strings.EqualFold(directive, "noai") && (agent == "" || agent == "*" || addressed(agent, c.opts.Agent)) {
		c.prefer(trainAI, true)
	}
}

// usage takes a statement about the use of a page.
func (c *collector) usage(source, field, value string) {
	if value = trimSpace(value); value == "" {
		return
	}
	c.directive(Directive{Source: source, Field: field, Value: value})
	switch field {
	case "tdm-reservation": // TDM Reservation Protocol, W3C Community Group, section 5
		switch value {
		case "1":
			c.prefer("tdm", true)
		case "0":
			c.prefer("tdm", false)
		}
	case "content-usage", "content-signal":
		for more := true; more; {
			var member string
			member, value, more = httpfield.Cut(value)
			if p, ok := ParsePreference(member); ok {
				c.prefer(p.Label, p.Refused)
			}
		}
	}
}

func (c *collector) directive(d Directive) {
	if len(c.page.Directives) < maxDirectives {
		d.Field, d.Agent, d.Value = c.statement(d.Field), c.statement(strings.ToLower(d.Agent)), c.statement(d.Value)
		c.page.Directives = append(c.page.Directives, d)
	}
}

func (c *collector) statement(s string) string {
	return c.links.kept.keep(cut(strings.ToValidUTF8(s, "\uFFFD"), c.opts.MaxFieldBytes))
}

// prefer takes one preference. A refusal wins over a permission, wherever they are (AIPREF:
// "Applying Preferences").
func (c *collector) prefer(label string, refused bool) {
	for i := range c.page.Usage {
		if p := &c.page.Usage[i]; p.Label == label {
			p.Refused = p.Refused || refused
			return
		}
	}
	if len(c.page.Usage) < maxPreferences {
		c.page.Usage = append(c.page.Usage, Preference{Label: strings.Clone(label), Refused: refused})
	}
}

// trainAI is the label of AIPREF for the training of models. Content signals have the words the other
// way round.
const trainAI = "train-ai"

// ParsePreference reads a preference such as "train-ai=n" with the values of AIPREF, or
// "ai-train=no" with the values of content signals. Parameters behind it do not count; false: it is
// not a preference.
func ParsePreference(s string) (p Preference, ok bool) {
	s, _, _ = strings.Cut(s, ";")
	label, value, ok := strings.Cut(s, "=")
	p.Label = strings.ToLower(trimSpace(label))
	if !ok || p.Label == "" || len(p.Label) > maxLabelBytes || strings.Trim(p.Label, "abcdefghijklmnopqrstuvwxyz0123456789-_.*") != "" {
		return Preference{}, false
	}
	if p.Label == "ai-train" {
		p.Label = trainAI
	}
	switch strings.ToLower(strings.Trim(trimSpace(value), `"`)) {
	case "n", "no", "?0":
		p.Refused = true
	case "y", "yes", "?1":
	default:
		return Preference{}, false
	}
	return p, true
}

// wider are the uses that include another one: what is said of them is said of it, if nothing is
// said of it alone.
var wider = map[string][]string{
	"train-genai": {trainAI},
	trainAI:       {"ai", "tdm"},
	"ai-input":    {"ai"}, "ai-use": {"ai"}, "genai": {"ai"},
	"ai":     {"tdm", "bots", "all"},
	"tdm":    {"bots", "all"},
	"search": {"bots", "all"},
}

// Refuses tells whether the page may not be used for something.
func (p *Page) Refuses(label string) bool {
	if i := slices.IndexFunc(p.Usage, func(u Preference) bool { return u.Label == label }); i >= 0 {
		return p.Usage[i].Refused
	}
	return slices.ContainsFunc(wider[label], p.Refuses)
}

// Leave leaves out of a page what its site does not want to be used, as far as Options say so.
// Another reader of a page calls it when the page is whole; Document and Write have done so.
func (p *Parser) Leave(page *Page) {
	switch {
	case page.Unparsed == UnsupportedType:
	case slices.ContainsFunc(p.opts.Respect, page.Refuses):
		page.Unparsed = UsageRefused
		page.Title, page.Keywords, page.Author, page.Date, page.Modified = "", "", "", "", ""
		page.OpenGraph, page.JSONLD, page.Metadata = nil, nil, nil
		for i := range page.Links {
			page.Links[i].Text, page.Links[i].Caption = "", ""
		}
	case page.Robots.NoIndex && p.opts.OmitNoIndex && page.Unparsed == "":
		page.Unparsed = NoIndex
	default:
		return
	}
	page.Text, page.Headings, page.Description = "", nil, ""
	page.TextTruncated = false
}
