package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/duplicates"
	"github.com/weftcrawl/weft/processors/parse/simhash"
)

// page is a file as parse reads it, and what the index says of it.
type page struct {
	url, domain string
	text        string
	print       simhash.Fingerprint
	words       int
	verdict     duplicates.Verdict
}

// file is one of the corpus. Files of one name have the same rank: the versions and
// the translations of a manual are chosen together.
type file struct {
	path string
	rank uint64
}

// corpus reads so many HTML files below a folder, those whose names have the lowest
// hashes, in the order of hashes of their paths. What is directly below the folder
// counts as a domain each.
func corpus(folder string, most int) ([]page, error) {
	var files []file
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !strings.HasPrefix(filepath.Ext(path), ".htm") {
			return err
		}
		files = append(files, file{path, xxh3.HashString(filepath.Base(path))})
		return nil
	})
	if err != nil {
		return nil, err
	}
	order := func(rank func(file) uint64) {
		slices.SortFunc(files, func(a, b file) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.path, b.path))
		})
	}
	order(func(f file) uint64 { return f.rank })
	if len(files) < most {
		return nil, fmt.Errorf("%s has %d HTML files, fewer than %d", folder, len(files), most)
	}
	files = files[:most]
	order(func(f file) uint64 { return xxh3.HashString(f.path) })

	parser, err := document.New(document.DefaultOptions())
	if err != nil {
		return nil, err
	}
	pages := make([]page, len(files))
	for i, f := range files {
		body, err := os.ReadFile(f.path)
		if err != nil {
			return nil, err
		}
		name, err := filepath.Rel(folder, f.path)
		if err != nil {
			return nil, err
		}
		domain, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		domain += ".example"
		read := parser.Document(document.Input{ContentType: "text/html", Body: body})
		pages[i] = page{url: "https://" + domain + "/" + filepath.ToSlash(name), domain: domain, text: read.Text}
	}
	return pages, nil
}
