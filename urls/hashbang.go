package urls

import "strings"

// escapedFragment is the parameter that a server which knows the scheme answers
// with the page that its script would show for the fragment
// (https://developers.google.com/search/docs/ajax-crawling/docs/specification).
const escapedFragment = "_escaped_fragment_"

// withHashBang returns u with what follows "!" in its fragment as a parameter;
// u itself when the fragment starts otherwise.
func (u URL) withHashBang(fragment string) (URL, Refusal) {
	state, is := strings.CutPrefix(fragment, "!")
	if !is {
		return u, Accepted
	}
	if len(state) > MaxBytes {
		return URL{}, TooLong
	}
	var b []byte
	for _, r := range state {
		if r < 0x80 && queryClass[byte(r)] == keep && r != '&' && r != '+' {
			b = append(b, byte(r))
			continue
		}
		for _, c := range []byte(string(r)) {
			b = appendEscape(b, c)
		}
	}
	return u.withParameter(escapedFragment, string(b))
}
