package parse

import "strings"

// Robots are the directives of a page for robots. The zero value allows
// everything.
type Robots struct {
	// NoIndex: the page is not to be shown to others.
	NoIndex bool
	// NoFollow: the page's links are not to be followed.
	NoFollow bool
}

// add unites r with a list of directives such as "noindex, follow". Refusals
// win over permissions, as they do in every search engine's documentation;
// there is no standard.
func (r *Robots) add(directives string) {
	for directives != "" {
		var directive string
		directive, directives, _ = strings.Cut(directives, ",")
		r.addOne(trimSpace(directive))
	}
}

func (r *Robots) addOne(directive string) {
	switch {
	case strings.EqualFold(directive, "noindex"):
		r.NoIndex = true
	case strings.EqualFold(directive, "nofollow"):
		r.NoFollow = true
	case strings.EqualFold(directive, "none"):
		r.NoIndex, r.NoFollow = true, true
	}
}

// addressed reports whether directives for name are for us.
func addressed(name, agent string) bool {
	return strings.EqualFold(name, "robots") || strings.EqualFold(name, agent)
}

// robotsOfTags unites X-Robots-Tag values. A value is a list of directives;
// "agent:" before one addresses it and those after it in the same value to that
// agent ("otherbot: noindex, nofollow, weft: none").
func robotsOfTags(values []string, agent string) Robots {
	var robots Robots
	for _, value := range values {
		ours := true
		for value != "" {
			var part string
			part, value, _ = strings.Cut(value, ",")
			if name, directive, ok := strings.Cut(part, ":"); ok {
				name = trimSpace(name)
				if takesValue(name) {
					continue
				}
				ours = name == "*" || addressed(name, agent)
				part = directive
			}
			if ours {
				robots.addOne(trimSpace(part))
			}
		}
	}
	return robots
}

// takesValue reports whether name is a directive written "name: value", which
// must not be taken for an agent.
func takesValue(name string) bool {
	switch strings.ToLower(name) {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	return false
}
