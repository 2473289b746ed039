package document

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// soupNames are the elements of the soup: all that tree construction has a rule for, and some more.
var soupNames = func() (names []string) {
	for _, e := range elementTable {
		for ; e != nil; e = e.next {
			names = append(names, e.name)
		}
	}
	return append(names, "x-y", "feblend", "A", "P", "TD", "linearGradient", "selectedcontent", "isindex", "menuitem")
}()

// soupAttributes are written as they may be wrong.
var soupAttributes = []string{
	" href=/%d", ` href="/a?b=%d&amp;c&copy=1"`, " href='#%d'", " HREF = x%d ", " hidden", " hidden=until-found hidden", " popover", " open", " id=a%d", ` class="a > b"`, " a/", "/",
	" type=hidden", ` type="application/ld+json"`, " src=/s%d", " alt='&lt;%d&nbsp;&eacute'", " title=\"a\r\nb\"", " rel='Next  canonical'", " lang=e%d", " xml:lang=f", " xlink:href=/x%d", " name=robots content=nofollow",
	" name=description content='d&#%d;&#13;'", " property=og:a content=%d", " http-equiv=refresh content='0;url=/r%d'", " color=red", " encoding=text/html", ` srcset="/a 1x, /b%d 2x"`, " =", " ='", " x=/", ` y="`, " href", " shadowrootmode=open",
	" action=/f%d", " href=/a href=/b", " itemscope", " ITEMSCOPE=''", " typeof=x", " property=y", " pubdate", " name=dc.date content=%d",
}

var soupTexts = []string{
	"x%d", " ", "\n", " y ", "&amp;", "&lt%d", "&nbsp;z", "&#13;", "&#10;", "&#32;w", "\r\n", "\r", "<", "< a", "</", "<!-- <b> -->", "<!-->", "<!--->x", "<!--a--!>b", "<!x>", "<?x?>", "</ >", "</>", "<![CDATA[ c&amp;%d ]]>", "<!doctype html>",
	"\u00a0", "é漢", "&notit;", "&CounterClockwiseContourIntegral;", "&fjlig;", "&#x80;", "&#xD800;", "&", "&;", "&#", "<!-- -", "\n\n", "<!---->", "<!--<script>", "-->", "</script >",
}

// soupThemes are elements that have rules about each other.
var soupThemes = [][]string{
	{"table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th", "form", "input"},
	{"ul", "ol", "li", "dl", "dt", "dd", "div", "address", "p", "section"},
	{"p", "button", "object", "marquee", "h1", "h2", "pre", "hr", "div", "span"},
	{"select", "optgroup", "option", "hr", "input", "button", "p", "b"},
	{"ruby", "rb", "rp", "rt", "rtc", "p", "span"},
	{"a", "b", "i", "font", "nobr", "code", "p", "span", "br", "td", "table", "object"},
	{"svg", "math", "foreignObject", "desc", "title", "mi", "mglyph", "annotation-xml", "font", "p", "a", "g", "div", "li"},
	{"html", "head", "body", "title", "meta", "link", "base", "script", "style", "noscript", "noframes", "p"},
	{"form", "div", "p", "form", "table", "td", "span", "input"},
	{"figure", "figcaption", "img", "figure", "p", "noscript", "video", "span"},
}

// tagSoup is a document of n random pieces, of few elements so that these meet. Many are hidden,
// which makes it visible what stands in what.
func tagSoup(random *rand.Rand, n int) string {
	var names []string
	for range random.IntN(3) {
		names = append(names, soupThemes[random.IntN(len(soupThemes))]...)
	}
	for len(names) == 0 || random.IntN(3) == 0 {
		names = append(names, soupNames[random.IntN(len(soupNames))])
	}
	var b strings.Builder
	if random.IntN(3) == 0 {
		b.WriteString([]string{"<!doctype html>", "<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 3.2//EN'>", "<html lang=de>", "<head>", "<body>", "\n<html><head><title>t</title></head>\n<body>"}[random.IntN(6)])
	}
	number := func(s string) { b.WriteString(strings.ReplaceAll(s, "%d", fmt.Sprint(random.IntN(300)))) }
	var open []string
	for range n {
		switch random.IntN(8) {
		case 0, 1, 2:
			name := names[random.IntN(len(names))]
			b.WriteString("<" + name)
			if random.IntN(5) == 0 {
				b.WriteString(" hidden")
			}
			for random.IntN(3) == 0 {
				number(soupAttributes[random.IntN(len(soupAttributes))])
			}
			b.WriteString([]string{">", ">", ">", ">", ">", "/>", " >"}[random.IntN(7)])
			open = append(open, name)
		case 3, 4:
			if len(open) > 0 {
				b.WriteString("</" + open[len(open)-1] + ">")
				open = open[:len(open)-1]
			}
		case 5:
			b.WriteString("</" + names[random.IntN(len(names))] + ">")
		default:
			number(soupTexts[random.IntN(len(soupTexts))])
		}
	}
	return b.String()
}

// TestStreamOfSoup compares stream and tree on random documents that are nested as nothing should be.
func TestStreamOfSoup(t *testing.T) {
	documents := 200_000
	if testing.Short() {
		documents = 10_000
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	readers := []*reader{newReader(t, nil), newReader(t, tight)}
	streamed := 0
	for i := range documents {
		r, n := readers[i%2], 1+random.IntN(30)
		if i%16 == 0 {
			n *= 20
		}
		body := tagSoup(random, n)
		needsTree, difference := r.compare(soupInput(body))
		if needsTree == "" {
			streamed++
		}
		if difference != "" {
			t.Fatalf("seed %d: %s\n%q", seed, difference, r.smallest(body))
		}
	}
	t.Logf("%d of %d documents are read without a tree", streamed, documents)
	if streamed*5 < documents {
		t.Errorf("seed %d: only %d of %d documents are read without a tree", seed, streamed, documents)
	}
}

func soupInput(body string) Input {
	return Input{URL: "http://a.example/b", ContentType: "text/html; charset=utf-8", Body: []byte(body)}
}

// smallest takes pieces out of a document as long as stream and tree differ.
func (r *reader) smallest(body string) string {
	for size := len(body) / 2; size > 0; {
		smaller := false
		for at := 0; at+size <= len(body); at++ {
			without := body[:at] + body[at+size:]
			if _, difference := r.compare(soupInput(without)); difference != "" {
				body, smaller = without, true
			}
		}
		if !smaller || size > len(body) {
			size /= 2
		}
	}
	return body
}

// TestStreamOfDamage deletes, doubles and swaps tags and pieces of pages at random.
func TestStreamOfDamage(t *testing.T) {
	rounds := 2_000
	if testing.Short() {
		rounds = 60
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	files, err := filepath.Glob("testdata/pages/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	if *corpus != "" {
		if files, err = filepath.Glob(*corpus + "/*.html"); err != nil {
			t.Fatal(err)
		}
	}
	r := newReader(t, nil)
	documents, streamed := 0, 0
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) > 64<<10 {
			continue
		}
		for range rounds {
			body := string(page)
			for range 1 + random.IntN(4) {
				body = damage(random, body)
			}
			in := soupInput(body)
			in.ContentType = "text/html"
			needsTree, difference := r.compare(in)
			documents++
			if needsTree == "" {
				streamed++
			}
			if difference != "" {
				t.Fatalf("seed %d, %s: %s\n%q", seed, file, difference, r.smallest(body))
			}
		}
	}
	t.Logf("%d of %d documents are read without a tree", streamed, documents)
	if streamed*10 < documents {
		t.Errorf("seed %d: only %d of %d documents are read without a tree", seed, streamed, documents)
	}
}

// damage changes one thing about a document.
func damage(random *rand.Rand, body string) string {
	tag := func() (from, to int) {
		from = random.IntN(len(body) + 1)
		if i := strings.IndexByte(body[from:], '<'); i >= 0 {
			from += i
		}
		to = len(body)
		if i := strings.IndexByte(body[from:], '>'); i >= 0 {
			to = from + i + 1
		}
		return from, to
	}
	from, to := tag()
	switch random.IntN(6) {
	case 0: // delete
		return body[:from] + body[to:]
	case 1: // double
		return body[:to] + body[from:]
	case 2: // move
		one := body[from:to]
		body = body[:from] + body[to:]
		at, _ := tag()
		return body[:at] + one + body[at:]
	case 3: // put in
		return body[:from] + tagSoup(random, 2) + body[from:]
	case 4: // delete a byte
		at := random.IntN(len(body) + 1)
		return body[:at] + body[min(at+1, len(body)):]
	default: // end
		if random.IntN(4) == 0 {
			return body[:from]
		}
		return body
	}
}
