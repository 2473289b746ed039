package document

import "strings"

// Robots are the directives of a page for robots. The zero value allows everything. There is no
// standard: the words come from Google's documentation of robots meta tags and X-Robots-Tag,
// which other engines share.
type Robots struct {
	// NoIndex: the page is not to be shown to others.
	NoIndex bool
	// NoFollow: the page's links are not to be followed.
	NoFollow bool
	// NoArchive: no copy of the page is to be shown to others.
	NoArchive bool `json:",omitzero"`
	// NoSnippet: no part of its text is to be shown to others.
	NoSnippet bool `json:",omitzero"`
	// UnavailableAfter is from when on the page is not to be shown to others, as
	// written; empty: never.
	UnavailableAfter string `json:",omitzero"`
}

// maxDateBytes bounds UnavailableAfter: the longest form of a date has about
// forty.
const maxDateBytes = 64

// add unites r with a list of directives such as "noindex, follow", all for us.
func (r *Robots) add(directives string) {
	for directives != "" {
		var directive string
		directive, directives = nextDirective(directives)
		eachWord(directive, r.addOne)
	}
}

// addOne unites r with a directive. Refusals win over permissions, as in every
// search engine's documentation.
func (r *Robots) addOne(directive string) {
	switch word, value, _ := strings.Cut(directive, ":"); strings.ToLower(trimSpace(word)) {
	case "noindex":
		r.NoIndex = true
	case "nofollow":
		r.NoFollow = true
	case "none":
		r.NoIndex, r.NoFollow = true, true
	case "noarchive", "nocache":
		r.NoArchive = true
	case "nosnippet":
		r.NoSnippet = true
	case "unavailable_after":
		if value = trimSpace(value); r.UnavailableAfter == "" {
			r.UnavailableAfter = strings.Clone(cut(strings.ToValidUTF8(value, "\uFFFD"), maxDateBytes))
		}
	}
}

// nextDirective cuts the first directive off a list. Commas separate directives, and a date may
// also have a comma: "Wednesday, 25-Jun-30 15:00:00 PST".
func nextDirective(list string) (directive, rest string) {
	directive, rest, _ = strings.Cut(list, ",")
	directive, rest = trimSpace(directive), trimSpace(rest)
	if endsInWeekday(directive) && rest != "" && '0' <= rest[0] && rest[0] <= '9' {
		var date string
		date, rest, _ = strings.Cut(rest, ",")
		directive += ", " + trimSpace(date)
	}
	return directive, rest
}

// endsInWeekday reports whether a directive, with or without its agent, is an
// unavailable_after and as yet a day of the week.
func endsInWeekday(directive string) bool {
	colon := strings.LastIndexByte(directive, ':')
	if colon < 0 {
		return false
	}
	word := directive[:colon]
	word = word[strings.LastIndexByte(word, ':')+1:]
	return strings.EqualFold(trimSpace(word), "unavailable_after") && isWeekday(trimSpace(directive[colon+1:]))
}

func isWeekday(s string) bool {
	switch strings.ToLower(s) {
	case "mon", "tue", "wed", "thu", "fri", "sat", "sun",
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday":
		return true
	}
	return false
}

// addressed reports whether directives for name are for us.
func addressed(name, agent string) bool {
	return strings.EqualFold(name, "robots") || strings.EqualFold(name, agent)
}

// robotsOfTags unites X-Robots-Tag values, as far as they are for us.
func robotsOfTags(values []string, agent string) Robots {
	var robots Robots
	for _, value := range values {
		eachDirective(value, func(name, directive string) {
			if name == "" || name == "*" || addressed(name, agent) {
				robots.addOne(directive)
			}
		})
	}
	return robots
}

// eachDirective calls found with each directive of an X-Robots-Tag value, and the agent that it is
// for; empty: all agents. A value is a list of directives; "agent:" before one addresses it and
// those after it in the same value to that agent ("otherbot: noindex, nofollow, weft: none"). A
// word before a colon is an agent if a directive that is known follows, or the end.
func eachDirective(value string, found func(agent, directive string)) {
	agent := ""
	for value != "" {
		var directive string
		directive, value = nextDirective(value)
		name, addressee, ok := strings.Cut(directive, ":")
		name, addressee = trimSpace(name), trimSpace(addressee)
		if word, _, _ := strings.Cut(addressee, ":"); ok && !isDirective(name) && (addressee == "" || isDirective(trimSpace(word)) || words(addressee) != nil) {
			agent, directive = name, addressee
			if agent == "" {
				agent = ":" // no agent
			}
		}
		eachWord(directive, func(directive string) { found(agent, directive) })
	}
}

// eachWord calls found with a directive, or with each of several that are not separated by commas.
func eachWord(directive string, found func(directive string)) {
	if several := words(directive); several != nil {
		for _, word := range several {
			found(word)
		}
		return
	}
	found(directive)
}

// words returns the directives in a list without commas, "noindex nofollow" or "noindex; nofollow", which some
// sites write. It returns nil if these are not several words that are all known as directives, as in a date.
func words(list string) []string {
	if !strings.ContainsAny(list, htmlSpace+";") {
		return nil
	}
	several := strings.FieldsFunc(list, func(c rune) bool { return strings.ContainsRune(htmlSpace+";", c) })
	for _, word := range several {
		if name, value, _ := strings.Cut(word, ":"); !isDirective(name) || value == "" && name != word {
			return nil
		}
	}
	return several
}

// isDirective reports whether word is a directive that engines know, with or
// without a value, and so no agent.
func isDirective(word string) bool {
	switch strings.ToLower(word) {
	case "all", "index", "follow", "archive", "snippet", "noindex", "nofollow", "none", "noarchive", "nocache", "nosnippet",
		"noimageindex", "notranslate", "indexifembedded", "noodp", "noydir", "noai", "noimageai", "nositelinkssearchbox",
		"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	return false
}
