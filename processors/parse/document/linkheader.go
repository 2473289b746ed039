package document

import (
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/httpfield"
	"github.com/weftcrawl/weft/internal/urls"
)

// maxHeaderLinks bounds the links of one response's Link fields.
const maxHeaderLinks = 100

// headerLinks calls found with the links of a Link field (RFC 8288 section 3),
// parsed as leniently as its appendix B.2 has it: what is broken ends where the
// next link may begin.
func headerLinks(field string, found func(headerLink)) {
	for range maxHeaderLinks {
		_, rest, ok := strings.Cut(field, "<")
		if !ok {
			return
		}
		var l headerLink
		l.target, rest, ok = strings.Cut(rest, ">")
		if !ok {
			return
		}
		l.target = trimSpace(l.target)
		field = l.parameters(rest)
		found(l)
	}
}

// headerLink is one link of a Link field. Of a parameter given twice the first
// counts.
type headerLink struct {
	target, rel, anchor, title, language, media string
}

// parameters reads the parameters at the beginning of s and returns what comes
// after the comma that ends them.
func (l *headerLink) parameters(s string) string {
	for {
		s = trimLeftSpace(s)
		if s == "" {
			return ""
		}
		if s[0] == ',' {
			return s[1:]
		}
		if s[0] == ';' {
			s = s[1:]
			continue
		}
		end := strings.IndexAny(s, "=;,")
		if end < 0 {
			return ""
		}
		name := trimSpace(s[:end])
		if s = s[end:]; s[0] != '=' {
			continue
		}
		var value string
		value, s = parameterValue(trimLeftSpace(s[1:]))
		l.set(name, value)
	}
}

func (l *headerLink) set(name, value string) {
	field := new(string)
	switch {
	case strings.EqualFold(name, "rel"):
		field = &l.rel
	case strings.EqualFold(name, "anchor"):
		field = &l.anchor
	case strings.EqualFold(name, "title"):
		field = &l.title
	case strings.EqualFold(name, "hreflang"):
		field = &l.language
	case strings.EqualFold(name, "type"):
		field = &l.media
	}
	if *field == "" {
		*field = value
	}
}

// parameterValue returns the token or quoted string (RFC 9110 section 5.6.4) at
// the beginning of s, and the rest.
func parameterValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ";,")
		if end < 0 {
			end = len(s)
		}
		return trimSpace(s[:end]), s[end:]
	}
	return httpfield.Quoted(s)
}

// header lists the links of the response's header. Their targets are relative
// to the response (RFC 8288 section 3.2), not to the document's base.
func (c *collector) header(in Input) {
	if len(in.LinkFields) == 0 && in.Refresh == "" {
		return
	}
	source, refusal := urls.Parse(in.URL)
	if refusal != urls.Accepted {
		return
	}
	absolute := resolver(source)
	for _, field := range in.LinkFields {
		headerLinks(field, func(l headerLink) {
			rel := normalRel(strings.ToValidUTF8(l.rel, "\uFFFD"))
			kind := kindOfRel(rel, l.media)
			if kind == "" || l.target == "" || l.anchor != "" && absolute(l.anchor) != source.String() {
				return
			}
			target := absolute(l.target)
			if kind == KindCanonical {
				c.canonical(target)
			}
			c.addNamed(Link{
				URL: target, Rel: rel, Kind: kind, Language: cut(strings.ToValidUTF8(l.language, "\uFFFD"), c.opts.MaxFieldBytes),
			}, strings.ToValidUTF8(l.title, "\uFFFD"))
		})
	}
	if href := refreshURL(in.Refresh); href != "" {
		c.add(Link{URL: absolute(href), Rel: "refresh", Kind: KindRefresh})
	}
}

// HeaderTargets returns the targets, absolute, of the response's Link fields that have a
// relation, such as hub.
func HeaderTargets(in Input, rel string) []string {
	source, refusal := urls.Parse(in.URL)
	if refusal != urls.Accepted {
		return nil
	}
	absolute := resolver(source)
	var targets []string
	for _, field := range in.LinkFields {
		headerLinks(field, func(l headerLink) {
			if l.target != "" && l.anchor == "" && slices.Contains(strings.Fields(strings.ToLower(l.rel)), rel) {
				targets = append(targets, absolute(l.target))
			}
		})
	}
	return targets
}

// resolver returns a function that makes references of a source absolute, if they can be resolved.
func resolver(source urls.URL) func(ref string) string {
	base := urls.NewBase(source)
	return func(ref string) string {
		ref = strings.ToValidUTF8(ref, "\uFFFD")
		if u, refusal := base.Resolve(ref); refusal == urls.Accepted {
			return u.String()
		}
		return ref
	}
}
