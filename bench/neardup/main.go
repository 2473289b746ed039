// Command neardup judges the index of duplicates on real pages: the HTML files below
// a folder, such as Debian's documentation packages unpacked, several versions of a
// manual among them.
//
//	apt-get download python3.11-doc libboost1.74-doc libboost1.81-doc
//	for deb in *.deb; do dpkg-deb -x "$deb" "docs/${deb%%_*}"; done
//	go run ./bench/neardup -bars -pages 30000 docs
//
// Every page is read by parse and judged in one index, in an order without meaning.
// Verdicts are compared with the Jaccard similarity J of the sets of four words in a row
// of both texts, which is counted and not estimated: true from 0.7 on, false below 0.3.
// Numbers do not count as words, as in fingerprints. With -numbers they count. Found is
// the share of the pages with an earlier one at J of 0.9 or more, of another text, that
// are called a duplicate. All takes some 60 KB of memory a page.
//
// With -bars the program exits with status 1 when a bar is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/processors/parse/duplicates"
	"github.com/weftcrawl/weft/processors/parse/simhash"
)

func main() {
	most := flag.Int("pages", 30_000, "`number` of pages")
	numbers := flag.Bool("numbers", false, "numbers are words for the similarity that verdicts are held against")
	bars := flag.Bool("bars", false, "exit with status 1 when a bar is missed")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: neardup [-bars] [-numbers] [-pages N] FOLDER")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *most, *numbers, *bars, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "neardup:", err)
		os.Exit(1)
	}
}

func run(folder string, most int, numbers, bars bool, out io.Writer) error {
	pages, err := corpus(folder, most)
	if err != nil {
		return err
	}
	cost, err := judge(pages)
	if err != nil {
		return err
	}
	sets := make([][]uint64, len(pages))
	for i, p := range pages {
		sets[i] = shingles(p.text, numbers)
	}
	r := assess(pages, sets)
	r.cost = cost
	r.print(out)
	if bars {
		return r.missed()
	}
	return nil
}

// cost is what a page took on average, of a core, the collection of garbage and what
// the index does in the background included.
type cost struct{ fingerprint, judgement time.Duration }

// busy is the time for which the process had a core.
func busy() (time.Duration, error) {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, fmt.Errorf("read the use of cores: %w", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}

// judge gives each page its fingerprint and its verdict, in an index of one
// partition.
func judge(pages []page) (cost, error) {
	dir, err := os.MkdirTemp("", "neardup")
	if err != nil {
		return cost{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	index := duplicates.New(dir, noLog{})
	began, err := busy()
	for i := range pages {
		pages[i].print, pages[i].words = simhash.Of(pages[i].text)
	}
	printed, failed := busy()
	err = errors.Join(err, failed)
	for i := range pages {
		p := &pages[i]
		asked := duplicates.Page{ID: fmt.Sprint(i), URL: p.url, Domain: p.domain, Print: p.print}
		flight, failed := index.Judge(context.Background(), 0, asked)
		if err = errors.Join(err, failed); err != nil {
			break
		}
		p.verdict = flight.Verdict
		flight.Hand()(&kgo.Record{Offset: int64(i), Value: []byte(p.text)}, nil)
		flight.Release()
	}
	err = errors.Join(err, index.Close())
	ended, failed := busy()
	n := time.Duration(len(pages))
	return cost{(printed - began) / n, (ended - printed) / n}, errors.Join(err, failed)
}

// noLog is a log with nothing in it that the index does not know.
type noLog struct{}

func (noLog) Incarnation(context.Context) (string, error) { return "", nil }

func (noLog) Bounds(context.Context, int32) (start, end int64, err error) { return 0, 0, nil }

func (noLog) Range(context.Context, int32, int64, int64, func(duplicates.Record) error) error {
	return nil
}
