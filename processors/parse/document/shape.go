package document

import "golang.org/x/net/html"

// Shape is what decides how long it takes to go over a tree in a way that is not one walk.
type Shape struct {
	Nodes int
	// Depth is that of the deepest node.
	Depth int
	// Within is the number of pairs of a node and a node that contains it. A node of text
	// counts once more for each 8 bytes.
	Within int
	// Beside is the number of pairs of a node and a node in front of it with the same parent.
	Beside int
}

// ShapeOf looks at the tree below root.
func ShapeOf(root *html.Node) (s Shape) {
	depth := 0
	for n := root; ; {
		s.Nodes++
		s.Depth = max(s.Depth, depth)
		s.Within += depth
		if n.Type == html.TextNode {
			s.Within += depth * (len(n.Data) / 8)
		}
		if n.FirstChild != nil {
			children := 0
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				s.Beside += children
				children++
			}
			n = n.FirstChild
			depth++
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			depth--
		}
		if n == root {
			return s
		}
		n = n.NextSibling
	}
}
