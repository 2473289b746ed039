package document

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestHTML5Lib reads the documents of html5lib's tree construction tests. Text, title and links
// must equal those of the expected tree. A walk that shares nothing with the collector takes
// them from it. Fragments and documents for user agents without scripts are not what a crawl
// reads.
func TestHTML5Lib(t *testing.T) {
	// Those that differ, by file and number, and why.
	const cloned = "a selectedcontent element gets a copy of the selected option, which nobody has to read twice"
	differ := map[string]string{
		"webkit02.dat:694": cloned, "webkit02.dat:708": cloned, "webkit02.dat:734": cloned, "webkit02.dat:750": cloned,
	}
	files, err := filepath.Glob("testdata/html5lib/*.dat")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	p := newParser(t, nil)
	judged, others := 0, 0
	for _, file := range files {
		for i, test := range html5libTests(t, file) {
			if test.tree == "" || test.other {
				others++
				continue
			}
			judged++
			name := filepath.Base(file) + ":" + test.line
			want := referenceOf(test.tree)
			page := p.Document(Input{ContentType: "text/html; charset=utf-8", Body: []byte(test.data)})
			var hrefs []string
			for _, l := range page.Links {
				if l.Kind == KindAnchor {
					hrefs = append(hrefs, l.URL)
				}
			}
			same := solid(page.Text) == want.text && page.Title == strings.Join(strings.Fields(want.title), " ") && slices.Equal(hrefs, want.hrefs)
			reason, listed := differ[name]
			switch {
			case !same && !listed:
				t.Errorf("%s (test %d): %q\n text %q, want %q\n title %q, want %q\n links %q, want %q",
					name, i, test.data, solid(page.Text), want.text, page.Title, want.title, hrefs, want.hrefs)
			case same && listed:
				t.Errorf("%s differs no longer: %s", name, reason)
			}
		}
	}
	if judged < 1300 {
		t.Errorf("only %d documents judged, %d are none", judged, others)
	}
	t.Logf("%d documents judged, %d differ, %d tests are of fragments or without scripts", judged, len(differ), others)
}

// html5libTest is one test of a .dat file. other: it is of no whole document, or
// has scripting off.
type html5libTest struct {
	data, tree, line string
	other            bool
}

func html5libTests(t testing.TB, file string) (tests []html5libTest) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line := 1
	for _, chunk := range strings.Split("\n"+string(raw), "\n#data\n") {
		if strings.TrimSpace(chunk) != "" {
			data, rest, _ := strings.Cut(chunk, "\n#errors")
			if strings.HasPrefix(chunk, "#errors") {
				data, rest = "", chunk
			}
			_, tree, _ := strings.Cut(rest, "\n#document\n")
			tests = append(tests, html5libTest{
				data: data, tree: strings.TrimRight(tree, "\n"), line: strconv.Itoa(line),
				other: strings.Contains(rest, "\n#document-fragment\n") || strings.Contains(rest, "\n#script-off\n"),
			})
		}
		line += strings.Count(chunk, "\n") + 2
	}
	return tests
}

// reference is what a tree in html5lib's notation holds.
type reference struct {
	text, title string
	hrefs       []string
}

var (
	unseen  = regexp.MustCompile(`^(script|style|template|noscript|noframes|noembed|iframe|frame|textarea|audio|video|canvas|meter|progress|datalist|dialog|rp|svg script|svg style|svg title|svg desc|svg template|svg noscript|svg iframe|svg textarea|math script|math style|math title|math template|math annotation|math annotation-xml)$`)
	schemed = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
)

func referenceOf(tree string) (r reference) {
	type open struct {
		depth  int
		name   string
		hidden bool
	}
	var stack []open
	var text strings.Builder
	lines := strings.Split(tree, "\n")
	for i := 0; i < len(lines); i++ {
		body := strings.TrimPrefix(lines[i], "| ")
		node := strings.TrimLeft(body, " ")
		depth := (len(body) - len(node)) / 2
		for len(stack) > 0 && stack[len(stack)-1].depth >= depth {
			stack = stack[:len(stack)-1]
		}
		parent := open{}
		if len(stack) > 0 {
			parent = stack[len(stack)-1]
		}
		switch {
		case strings.HasPrefix(node, "<!"):
			for !strings.HasSuffix(lines[i], ">") && i+1 < len(lines) && !strings.HasPrefix(lines[i+1], "| ") {
				i++
			}
		case strings.HasPrefix(node, "<?"):
		case strings.HasPrefix(node, "<"):
			name := strings.TrimSuffix(node[1:], ">")
			stack = append(stack, open{depth, name, parent.hidden || unseen.MatchString(name)})
		case strings.HasPrefix(node, `"`):
			s := node[1:]
			for !strings.HasSuffix(s, `"`) || i+1 < len(lines) && !strings.HasPrefix(lines[i+1], "| ") {
				i++
				s += "\n" + lines[i]
			}
			s = strings.TrimSuffix(s, `"`)
			switch {
			case parent.name == "title" && !parent.hidden:
				if strings.TrimSpace(r.title) == "" {
					r.title = s
				}
			case !parent.hidden:
				text.WriteString(s)
			}
		case parent.name == "a" && !parent.hidden && (strings.HasPrefix(node, "href=") || strings.HasPrefix(node, "xlink href=")):
			_, value, _ := strings.Cut(node, "=")
			r.href(strings.Trim(value, `"`))
		}
	}
	r.text = solid(text.String())
	return r
}

func (r *reference) href(href string) {
	href, _, _ = strings.Cut(strings.TrimSpace(href), "#")
	if href != "" && !schemed.MatchString(href) && !slices.Contains(r.hrefs, href) {
		r.hrefs = append(r.hrefs, href)
	}
}

// solid is text without white space and what the collector drops.
func solid(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), ""), "\x00", "")
}
