package parse

import "strings"

// srcsetURLs calls yield with each URL of a srcset attribute (WHATWG HTML,
// parse a srcset attribute) until that says no. Descriptors are passed over: a
// browser drops images whose width it cannot read, but they are named all the
// same.
func srcsetURLs(srcset string, yield func(url string) bool) {
	for {
		srcset = strings.TrimLeft(srcset, " \t\n\f\r,")
		if srcset == "" {
			return
		}
		end := strings.IndexAny(srcset, " \t\n\f\r")
		if end < 0 {
			end = len(srcset)
		}
		url := srcset[:end]
		srcset = srcset[end:]
		if bare := strings.TrimRight(url, ","); len(bare) < len(url) {
			url = bare
		} else {
			srcset = srcset[descriptors(srcset):]
		}
		if !yield(url) {
			return
		}
	}
}

// descriptors returns the length of the descriptors at the beginning of s: they
// end at a comma outside parentheses.
func descriptors(s string) int {
	inParens := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inParens:
			inParens = c != ')'
		case c == '(':
			inParens = true
		case c == ',':
			return i
		}
	}
	return len(s)
}
