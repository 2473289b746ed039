package document

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// pieces open formatting elements, close them, seem to, or close what is around
// them.
var pieces = []string{
	"<b a%d b=1>", "<FONT id=%d>x", "<nobr>x", "<i x=%d>x</i>", `<code a="%d>"'></code>'>x`, "<!--</b>--></b>", "</font>x",
	"<b x=%d><span><i>x</i></span></b>", "<a href=%d><i y=%d></a>", "<a h=%d a b c d e f g>", "<b x=%d><a h=%d>x</a></b>", "</a>", "<object>", "</object>", "<table>", "<td>", "</table>",
	"<svg>", "</svg>", "<select>", "<div><div><div><div><div><div><div><div><div></b></div></div></div></div></div></div></div></div></div>",
	"<p>x</p>", "<p>", "</p>x", "<p>x", "<section>", "</section>", "<li>", "<h2>",
	"<section><a h=%d a b c>" + nine + "<a></section>", "<a h=%d a b c>" + nine + "</a>", "<b x=%d a b>" + nine + "</b>",
	"<a h=%d a b c><svg><path d=1/><g></g></svg><div><p>x</p></div>x</a>", "<p><a h=%d a b c d><div>x</div><li>x</li>x</a>", "<b x=%d a b><div><h2>x</h2></div><p>x</p></b>",
	"<u x=%d a b><img><svg><path d=1></path></svg><svg/>x</u>", "<em x=%d><svg><g/><div>x</div></svg></em>",
}

const nine = "<div><div><div><div><div><div><div><div><div>"

// soup strings some of the pieces together at random.
func soup(random *rand.Rand, n int) string {
	some := random.Perm(len(pieces))[:2+random.IntN(4)]
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(pieces[some[random.IntN(len(some))]], "%d", strconv.Itoa(i)))
	}
	return b.String()
}

// TestReopenedIsABound compares it with the formatting elements of trees.
func TestReopenedIsABound(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	most := 0.0
	for range 300 {
		body := soup(random, 1000)
		doc, err := html.Parse(strings.NewReader(body))
		if err != nil {
			continue // too deep
		}
		held := 0
		for n := range doc.Descendants() {
			if n.Type == html.ElementNode && isFormatting(shortName([]byte(n.Data))) {
				held += elementBytes + attributeBytes*len(n.Attr)
			}
		}
		for _, simple := range []bool{false, true} {
			// What was written stands once; an end of misnested elements makes at most
			// eight more of it.
			reopened := survey([]byte(body), simple).reopened
			if reopened > maxReopened {
				continue // where it stops counting
			}
			bound := reopened + 9*elementBytes*strings.Count(body, "<")
			most = max(most, float64(held)/float64(bound))
			if held > bound {
				t.Fatalf("seed %d: %d bytes of formatting elements, bound %d:\n%s", seed, held, bound, body)
			}
		}
	}
	if most < 0.05 {
		t.Errorf("seed %d: no more than %.2f of the bound: no test of it", seed, most)
	}
	t.Logf("at most %.2f of the bound", most)
}
