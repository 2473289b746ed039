package parse

import "strings"

// What the tree parser (x/net/html v0.62) does in time or memory that grows with
// the square of a body, measured on one slow core:
//
//   - It merges the attributes of each further html and body tag into those of
//     the first: 128 KiB of "<body a1><body a2>…" take 5 s, 1 MiB minutes.
//   - It opens formatting elements again for each paragraph after the one that
//     they were not closed in: 64 KiB of "<p><b a1><b a2>…</p><p>x<p>x…" take 9 s
//     and 6 GiB, which the tree holds (see survey).
const (
	// maxRoots is the most html and body tags of a document with a tree. Pages
	// that were put together carelessly have a handful.
	maxRoots = 64
	// alwaysCheap is a size that is neither: of 32 KiB full of root tags the tree
	// takes 0.4 s.
	alwaysCheap = 32 << 10
	// maxReopened bounds the bytes of elements that are opened again. A tree of
	// the largest body takes about as much.
	maxReopened = 64 << 20
)

// costly reports whether the tree parser may need far more time for a body than
// for others of its size.
func costly(body []byte) bool {
	if len(body) <= neverReopens {
		return false
	}
	found := survey(body, false)
	if found.reopened > maxReopened {
		found = survey(body, true)
	}
	return found.reopened > maxReopened || len(body) > alwaysCheap && found.roots > maxRoots
}

// startsRoot reports whether tag, without its "<", is one of html or body, or
// begins like one.
func startsRoot(tag []byte) bool {
	if len(tag) < 4 {
		return false
	}
	name := string(tag[:4])
	return strings.EqualFold(name, "body") || strings.EqualFold(name, "html")
}
