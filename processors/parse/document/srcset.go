package document

import (
	"strconv"
	"strings"
)

// srcsetURLs calls yield with the URL of each image candidate of a srcset
// attribute (WHATWG HTML 4.8.4.3, parse a srcset attribute) until yield returns false.
func srcsetURLs(srcset string, yield func(url string) bool) {
	for {
		srcset = strings.TrimLeft(srcset, htmlSpace+",")
		if srcset == "" {
			return
		}
		end := strings.IndexAny(srcset, htmlSpace)
		if end < 0 {
			end = len(srcset)
		}
		url := srcset[:end]
		srcset = srcset[end:]
		valid := true
		if bare := strings.TrimRight(url, ","); len(bare) < len(url) {
			url = bare
		} else {
			srcset, valid = descriptors(srcset)
		}
		if valid && !yield(url) {
			return
		}
	}
}

// descriptors reads the descriptors at the beginning of s, which end at a comma
// outside parentheses. It returns what comes after them, and whether they make
// an image candidate.
func descriptors(s string) (rest string, valid bool) {
	var seen dimensions
	valid = true
	for {
		s = strings.TrimLeft(s, htmlSpace)
		end := descriptorEnd(s)
		if end > 0 && !seen.add(s[:end]) {
			valid = false
		}
		if s = s[end:]; s == "" || s[0] == ',' {
			return s, valid && (seen.width || !seen.height)
		}
	}
}

// descriptorEnd returns the length of the descriptor at the beginning of s.
func descriptorEnd(s string) int {
	inParens := false
	for i := range len(s) {
		switch c := s[i]; {
		case inParens:
			inParens = c != ')'
		case c == '(':
			inParens = true
		case c == ',' || isSpace(c):
			return i
		}
	}
	return len(s)
}

// dimensions says which dimensions the descriptors of a candidate have named.
type dimensions struct{ width, height, density bool }

// add reports whether a descriptor is valid after those before it.
func (d *dimensions) add(descriptor string) bool {
	number, unit := descriptor[:len(descriptor)-1], descriptor[len(descriptor)-1]
	before := *d
	switch unit {
	case 'w':
		d.width = true
		return !before.width && !before.density && isPositive(number)
	case 'h':
		d.height = true
		return !before.height && !before.density && isPositive(number)
	case 'x':
		d.density = true
		return before == dimensions{} && isDensity(number)
	}
	return false
}

// isPositive tells whether s is a valid non-negative integer, and not 0.
func isPositive(s string) bool {
	return strings.Trim(s, "0123456789") == "" && strings.Trim(s, "0") != ""
}

// isDensity tells whether s is a valid floating-point number, and not below 0.
func isDensity(s string) bool {
	// Go reads more than HTML does.
	if strings.Trim(s, "0123456789.eE+-") != "" || strings.HasPrefix(s, "+") {
		return false
	}
	if _, fraction, ok := strings.Cut(s, "."); ok && (fraction == "" || fraction[0] < '0' || fraction[0] > '9') {
		return false
	}
	density, err := strconv.ParseFloat(s, 64)
	return err == nil && density >= 0
}
