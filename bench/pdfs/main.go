// Command pdfs compares what package pdf reads of the PDFs below a folder with what pdftotext
// (poppler-utils) does, word for word and page for page:
//
//	go run ./bench/pdfs /usr/share/doc
//
// It prints a line for each file below 98 %, and a sum.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/weftcrawl/weft/processors/parse/extract"
	"github.com/weftcrawl/weft/processors/parse/pdf"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pdfs FOLDER")
		os.Exit(2)
	}
	if err := compare(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "pdfs:", err)
		os.Exit(1)
	}
}

// sum has the results.
type sum struct {
	files, pages, words, found, below int
	ours, theirs                      time.Duration
}

func compare(folder string) (err error) {
	r := pdf.New(pdf.Options{
		Bounds:   extract.Bounds{MaxTextBytes: 64 << 20, MaxLinks: 10_000, MaxHrefBytes: 8 << 10, MaxAnchorBytes: 256, MaxHeadings: 256, MaxFieldBytes: 1024},
		MaxPages: pdf.MaxPages, MaxTime: 2 * time.Minute, MaxMemory: pdf.MaxMemory,
	})
	defer func() { err = errors.Join(err, r.Close()) }()
	var all sum
	err = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !strings.HasSuffix(name, ".pdf") {
			return err
		}
		return all.file(r, name)
	})
	fmt.Printf("%d files, %d pages; %d of %d words, %.2f %%; %d files below 98 %%; %.1f ms a page, pdftotext %.1f ms\n",
		all.files, all.pages, all.found, all.words, 100*float64(all.found)/float64(max(all.words, 1)), all.below,
		float64(all.ours.Milliseconds())/float64(max(all.pages, 1)), float64(all.theirs.Milliseconds())/float64(max(all.pages, 1)))
	return err
}

func (s *sum) file(r *pdf.Reader, name string) error {
	body, err := os.ReadFile(name) //nolint:gosec // the files that the user names
	if err != nil {
		return err
	}
	began := time.Now()
	got, err := r.Read(context.Background(), body)
	if err != nil {
		return err
	}
	ours := time.Since(began)
	began = time.Now()
	reference, err := exec.Command("pdftotext", name, "-").Output() //nolint:gosec // as above
	if err != nil {
		fmt.Printf("%s: pdftotext cannot read it: %v; outcome %q here\n", name, err, got.Outcome)
		return nil
	}
	s.ours, s.theirs = s.ours+ours, s.theirs+time.Since(began)
	pages, found, words := strings.Split(got.Text, "\f"), 0, 0
	for i, want := range strings.Split(strings.TrimSuffix(string(reference), "\f"), "\f") {
		page := ""
		if i < len(pages) {
			page = pages[i]
		}
		f, w := common(page, want)
		found, words = found+f, words+w
	}
	s.files, s.pages, s.found, s.words = s.files+1, s.pages+got.Pages, s.found+found, s.words+words
	if float64(found) < 0.98*float64(words) || got.Outcome != extract.Whole {
		s.below++
		fmt.Printf("%s: %d of %d words, %.1f %%, %d pages, outcome %q, %v\n",
			filepath.Base(name), found, words, 100*float64(found)/float64(max(words, 1)), got.Pages, got.Outcome, ours.Round(time.Millisecond))
	}
	return nil
}

// common counts the words of a reference, and how many of them a text has. Ligatures count as
// their letters, and marks of direction not at all.
func common(text, reference string) (found, all int) {
	fold := func(s string) []string {
		return strings.Fields(strings.NewReplacer("\u202a", "", "\u202b", "", "\u202c", "").Replace(norm.NFKC.String(s)))
	}
	have := map[string]int{}
	for _, word := range fold(text) {
		have[word]++
	}
	for _, word := range fold(reference) {
		all++
		if have[word] > 0 {
			have[word]--
			found++
		}
	}
	return found, all
}
