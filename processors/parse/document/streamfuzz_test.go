package document

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// FuzzStream checks that a page that is read without a tree equals the page of its tree in every
// field, for any bytes.
func FuzzStream(f *testing.F) {
	pages, err := filepath.Glob("testdata/pages/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, page := range pages {
		body, err := os.ReadFile(page)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	for _, test := range streamTests {
		f.Add([]byte(test.body))
	}
	files, err := filepath.Glob("testdata/html5lib/*.dat")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		for _, test := range html5libTests(f, file) {
			f.Add([]byte(test.data))
		}
	}
	random := rand.New(rand.NewPCG(1, 0))
	for range 500 {
		f.Add([]byte(tagSoup(random, 1+random.IntN(30))))
	}
	for _, body := range hostile(2 << 10) {
		f.Add([]byte(body))
	}
	plain, bounded := newReader(f, nil), newReader(f, tight)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, r := range []*reader{plain, bounded} {
			if _, difference := r.compare(Input{URL: "http://a.example/b", ContentType: "text/html; charset=utf-8", Body: body}); difference != "" {
				t.Error(difference)
			}
		}
	})
}

// TestStreamOfHTML5Lib reads html5lib's tree construction tests. Each page equals the page of the
// tree, or the stream gave up. TestHTML5Lib compares both with what the tests expect.
func TestStreamOfHTML5Lib(t *testing.T) {
	files, err := filepath.Glob("testdata/html5lib/*.dat")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	r := newReader(t, nil)
	documents, streamed := 0, 0
	for _, file := range files {
		for _, test := range html5libTests(t, file) {
			documents++
			needsTree, difference := r.compare(soupInput(test.data))
			if needsTree == "" {
				streamed++
			}
			if difference != "" {
				t.Errorf("%s:%s: %s\n%q", filepath.Base(file), test.line, difference, test.data)
			}
		}
	}
	t.Logf("%d of %d documents are read without a tree", streamed, documents)
	if streamed*2 < documents {
		t.Errorf("only %d of %d documents are read without a tree", streamed, documents)
	}
}

// TestStreamOfHostile reads bodies that are made to take much of something.
func TestStreamOfHostile(t *testing.T) {
	r := newReader(t, nil)
	for name, body := range hostile(24 << 10) {
		in := soupInput(body)
		in.ContentType = "text/html"
		if needsTree, difference := r.compare(in); difference != "" {
			t.Errorf("%s (%q): %s", name, needsTree, difference)
		}
	}
}
