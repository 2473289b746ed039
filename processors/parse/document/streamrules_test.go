package document

import "testing"

// streamTests are documents by the rules of tree construction, and why they need a tree; empty: they
// do not. Numbers are sections of the HTML standard (WHATWG HTML, "Parsing HTML documents").
var streamTests = []struct{ name, body, needsTree string }{
	// 13.1.2.4, optional tags.
	{"no html, head, body", "<title>t</title><p>x", ""},
	{"text first", " x <title>t</title>", ""},
	{"items", "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", ""},
	{"definitions", "<dl><dt>a<dd>b<p>c<dt>d<dd><div>e</div></dl>f", ""},
	{"paragraphs", "<p>a<p>b<div>c</div>d<h2>e</h2><p>f<ul><li>g</ul>h", ""},
	{"cells and rows", "<table><tr><th>a<td>b<tr><td><p>c</table>d", ""},
	{"parts of a table", "<table><caption>a<colgroup><col><col><thead><tr><td>b<tfoot><tr><td>c<tbody><td>d</table>e", ""},
	{"options", "<select><option>a<option>b<optgroup label=c><option>d<optgroup><option>e</select>f", ""},
	{"ruby", "<ruby>a<rp>(<rt>b<rp>)</ruby>c", ""},

	// In these, whether text is hidden shows what stands in what.
	{"an item ends across a div", "<ul><li hidden><div>a<li>b</ul>", ""},
	{"an item does not end a list", "<ul><li hidden>a<ul></li>b</ul></ul>c", ""},
	{"a term ends across a paragraph", "<dl><dt hidden><p>a<dd>b<address hidden>c<dt>d</dl>", ""},
	{"options of a group", "<select><optgroup hidden><option>a<option>b</select>c", ""},
	{"options without selection", "<option hidden>a<option>b<optgroup>c", ""},
	{"a paragraph of a button", "<p hidden>a<button><p>b</button>c</p>d", ""},
	{"a paragraph of a selection", "<p hidden>a<select><div>b</div></select>c", ""},
	{"a paragraph of an object", "<p hidden>a<object><p>b</object>c</p>d", ""},
	{"th in a caption", "<table><caption hidden>a<th>b</table>c", ""},
	{"rt after rtc", "<ruby>a<rtc hidden>b<rt>c<rb>d</ruby>e", ""},

	// 13.2.6.4.1 to 13.2.6.4.6, before the body.
	{"head after head", "<head></head> <link rel=canonical href=/a><title>t</title><body>x", ""},
	{"two heads", "<head><head><title>t</title></head></head><body>x", ""},
	{"an end first", "</p></br>x", ""},
	{"two roots", "<html lang=de><body>x<html class=a>y", ""},
	{"two languages", "<body>x<html lang=de>y", "attributes of a further html tag"},
	{"two bodies", "<body>x<body hidden>y", ""},
	{"white space by number", "&#32;<title>t</title>x", "a character reference before the body or in a column group"},
	{"frames", "<frameset><frame src=/a></frameset>", "frameset"},
	{"frames in the body", "<p>x<frameset><frame src=/a></frameset>", "frameset"},

	// 13.2.6.4.7, in body.
	{"in quirks mode", "<p hidden>a<table><tr><td>b</table>c", ""},
	{"in quirks mode by its type", "<!doctype html public '-//W3C//DTD HTML 3.2//EN'><p hidden>a<table><tr><td>b</table>c", ""},
	{"in standards mode", "<!doctype html><p hidden>a<table><tr><td>b</table>c", ""},
	{"headings in headings", "<h1>a<h2>b</h1>c</h2>d", ""},
	{"a list in a heading", "<h1>a<ul><li>b</h1>c", ""},
	{"an end of p", "a</p>b<p>c<b>d</p>e", ""},
	{"forms", "<form action=/a><form action=/b>x</form>y</form>z", ""},
	{"an end of a form in a div", "<form action=/a><div>x</form>y<form action=/b>z</div>w</form>v", ""},
	{"an end of a form in a span", "<form>a<span>b</form>c</span>d", ""},
	{"a form that is hidden", "<form hidden><div>x</form>y</div>z", "an end tag of a form within elements of which nothing is shown"},
	{"buttons", "<p><button>a<p>b<button>c</button>d", ""},
	{"rules in a selection", "<select><option>a<hr><option>b<input>c", ""},
	{"an image", "<image src=/a alt=b>x", ""},
	{"newlines", "<pre>\n\nx</pre><pre>\r\ny</pre><pre>&#10;z</pre><pre><!-- -->\nw</pre>", ""},
	{"a carriage return", "<pre>x&#13;\ny</pre>", "a carriage return in preformatted text"},
	{"plaintext", "<p>a<plaintext></p>b", "plaintext"},
	{"templates", "<template><a href=/a>x</a></template>y", "template"},
	{"elements that are not special", "<x-a hidden><search>a</x-a>b</search>c<x-b hidden><dialog open>d</x-b>e</dialog>f<x-c hidden><nav>g</x-c>h</nav>i", ""},
	{"unknown elements", "<x-a>a<y>b</x-a>c</y>d<X-A>e</x-A>", ""},

	// 13.2.4.3, active formatting elements; 13.2.6.4.7, the adoption agency.
	{"reconstructed", "<p><b>a<i>b</p><p>c</i>d</b>e", ""},
	{"reconstructed links", "<p><a href=/a>x</p><p>y</a>z", ""},
	{"hidden again", "<p><b hidden>a</p><p>b</b>c", ""},
	{"links in links", "<a href=/a>x<a href=/b>y</a>z", ""},
	{"a link in a block of a link", "<a href=/a><div>x<a href=/b>y</a></div>z", "adoption agency"},
	{"a link beyond a table", "<a href=/a><table><td><a href=/b>x</a></table>y", ""},
	{"ends in the wrong order", "<b>a<i>b</b>c</i>d", ""},
	{"a block in formatting", "<b>a<p>b</b>c</p>d", ""},
	{"a block in formatting that is hidden", "<b hidden>a<p>b</b>c</p>d", "adoption agency"},
	{"a block in nested formatting", "<b>a<i>b<span><p hidden>c</b>d</i>e</p>f", ""},
	{"blocks in formatting", "<b>a<div><ul><li>b</b>c<li>d</ul></div>e", ""},
	{"a block in what is hidden in formatting", "<b>a<span hidden><p>b</b>c</p>d", "adoption agency"},
	{"a block in a block in formatting", "<b><i><u><s>a<p>b</b>c", "adoption agency"},
	{"a block in a link in formatting", "<b><a href=/x>a<p>b</b>c</a>d", "adoption agency"},
	{"a block in a dialog in formatting", "<b>a<dialog open>b<p>c</b>d</dialog>e", "adoption agency"},
	{"a block in the end of a form", "<form><b>a</form><p>b</b>c</p>d", "adoption agency"},
	{"a newline behind the copy", "<b>a<pre></b>\n\nb</pre>c", ""},
	{"a block in an anchor", "<a name=a>x<h2>y<a href=/b>z</a></h2>w</a>v", ""},
	{"Noah's Ark", "<p><b hidden><b hidden><b hidden><b hidden>a</p></b></b></b>b", ""},
	{"an end out of scope", "<b hidden>a<select></b>b</select>c", ""},
	{"behind a cell", "<p><b hidden>a</p><table><tr><td><i>b</td></tr></table>c", ""},
	{"in a cell", "<p><b hidden>a</p><table><tr><td>b</td></tr></table>", ""},
	{"more of them", "<p><font size=1><font size=2><font size=3><font size=4>a</p>b", "more than three formatting elements of a name"},
	{"nobr", "<nobr>a<nobr>b<b>c</nobr>d", ""},
	{"objects", "<b><object>a</b>b</object>c", ""},

	// 13.2.6.1 and 13.2.6.4.9 to 13.2.6.4.15, tables.
	{"text in a table", "<table>a<tr><td>b</table>c", "foster parenting"},
	{"text in a row", "<table><tr>a<td>b</table>c", "foster parenting"},
	{"text in a column group", "<table><col>a</table>b", "foster parenting"},
	{"a link in a table", "<table><a href=/a>b</a><tr><td>c</table>", "foster parenting"},
	{"a line break in a table", "<table></br><tr><td>a</table>", "foster parenting"},
	{"white space in a table", "<table> <!-- --> <tr> <td> a </td> </tr> </table>b", ""},
	{"two forms in a table", "<form action=/a><table><form action=/b><tr><td>x</table></form>", ""},
	{"an end of another group", "<table><tr hidden></thead><td>a</table>b", ""},
	{"a form in a table", "<table><form action=/a><tr><td>x</form>y</table>z</form>", ""},
	{"what is hidden in a table", "<table><input type=HIDDEN><script>a</script><style>b</style><tr><td>c</table>", ""},
	{"a table in a table", "<table><tr><td>a<table><tr><td>b</td></table></td></tr></table>c", ""},
	{"a table after a table", "<table><tr><table><tr><td>a</table>b", ""},
	{"ends in a cell", "<table><tr><td><b>a</td></b></tr></td><td>b</p></tbody>c</table>d", "foster parenting"},
	{"ends of a cell", "<table><tr><td><b>a</tr></td></b> </table>c", ""},

	// 13.2.6.5, foreign content.
	{"a drawing", "<p>a<svg><g/><title>b</title><text>c<a xlink:href=/a>d</a></svg>e", ""},
	{"out of a drawing", "<svg><g>a<p>b</svg>c", ""},
	{"HTML in a drawing", "<svg><foreignObject><p>a<p>b</foreignObject><desc><p>c</desc></svg>d", ""},
	{"a font in a drawing", "<svg hidden><font>a<font size=1>b</svg>c", ""},
	{"an item of a drawing", "<li hidden>a<svg></li>b<foreignObject></li>c</foreignObject></svg>d", ""},
	{"a paragraph around a drawing", "<p hidden>a<svg><foreignObject><p>b</foreignObject></svg>c", ""},
	{"a paragraph around a formula", "<p hidden>a<math><mi><p>b</mi></math>c", ""},
	{"formulas", "<math><mi>a<b>b</b></mi><annotation-xml encoding=text/html><p>c</annotation-xml></math>d", ""},
	{"CDATA", "<svg><![CDATA[a<b>]]></svg><![CDATA[c]]>d", ""},
	{"a language in a drawing", "<svg><html xml:lang=de>x</svg>y", ""},
	{"an end by its attributes", "<svg><g a=b/>c</svg>d", "a tag of a foreign element that may be self-closing"},

	// 13.2.5, tokenization.
	{"attributes", `<a href=/a href=/b = /c"d>x</a><a href='/e?f&amp;g&copy;h&copy=i&copyj&semi;&notit;&fjlig;&#65;'>y</a><a =href=/k>z</a>`, ""},
	{"references", "a&amp;b&ampc&notit;&#x41;&#128;&#xD800;&#99999999;&nosuch;&CounterClockwiseContourIntegral;&fjlig;d", ""},
	{"comments", "a<!-->b<!--->c<!-- -- > --!>d<!-- > -->e<!---->f<!>g<?h>i</ j>k</>l", ""},
	{"scripts", `<script>"<a href=/a></scripts>"</script><script><!-- "</script>x`, ""},
	{"a script in a script", `<script><!--<script></script>--></script>x`, "a script that seems to be in a script"},
	{"titles", "<title>a&amp;<b>c</titl></title>d<textarea>\n<p></textarea>e", ""},
	{"NUL", "a\x00b", "NUL"},

	// The end.
	{"within a tag", "a<p", ""},
	{"within a value", "a<a href='b", ""},
	{"within an end tag", "a<b>c</b", ""},
	{"within a comment", "a<!-- b", ""},
	{"within a script", "a<script>b", ""},
	{"within a title", "<title>a", ""},
	{"after <", "a<", ""},
	{"after </", "a</", ""},
	{"after the body", "<body>a</body>b</html>c<p>d", ""},
}

// TestStreamRules checks which documents need a tree, and that the pages of the others equal the
// pages of their trees.
func TestStreamRules(t *testing.T) {
	r := newReader(t, nil)
	for _, test := range streamTests {
		needsTree, difference := r.compare(soupInput(test.body))
		if difference != "" {
			t.Errorf("%s: %s\n%s", test.name, difference, test.body)
		}
		if needsTree != test.needsTree {
			t.Errorf("%s: needs a tree: %q, want %q\n%s", test.name, needsTree, test.needsTree, test.body)
		}
	}
}
