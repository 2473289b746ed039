package crawl_test

import (
	"fmt"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/IBM/sarama"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/test/webserver"
)

// copies makes a web's pages duplicates: of ten, four have a text of their own,
// three one of a few texts, two such a text with another number in it, and one a few
// words, wherever they are. They link to what they linked to. Besides, each domain
// has /late/N, which nothing links to, with the text that many have.
func copies(w *web) {
	w.alter = func(domain, path string, answer *webserver.Response) {
		page := w.Page(domain, w.server.Port(), path)
		if page == nil && !strings.HasPrefix(path, "/late/") {
			return
		}
		_, text := textOf(domain, path)
		body := "<title>" + path + "</title><p>" + text
		if page != nil {
			for _, link := range page.Links {
				body += "<a href='" + link + "'></a>"
			}
		}
		*answer = webserver.Response{Status: 200, Type: "text/html", Body: []byte(body)}
	}
}

// textOf is the text of a page, and which texts are nearly the same: the pages of its family.
func textOf(domain, path string) (family, text string) {
	hash := fnv.New64a()
	hash.Write([]byte(domain + path))
	h := hash.Sum64()
	number := h / 10 % 8
	read := "17"
	kind := h % 10
	if strings.HasPrefix(path, "/late/") {
		kind = 4
	}
	switch kind {
	case 0, 1, 2, 3:
		number = h
	case 7, 8:
		read = strconv.FormatUint(100+h%1000, 10)
	case 9:
		return "short", "Nothing is here yet"
	}
	words, random := make([]string, 120), rand.New(rand.NewPCG(number, 0))
	for i := range words {
		word := make([]byte, 3+random.IntN(6))
		for j := range word {
			word[j] = byte('a' + random.IntN(26))
		}
		words[i] = string(word)
	}
	return fmt.Sprint(number), strings.Join(words, " ") + ", read " + read + " times"
}

// duplicates are how many pages of parsed were found to be one.
type duplicates struct{ identical, near, elsewhere, repeats int }

// namesOriginals reads parsed from end to end, as those do who rely on it. Each
// page of a family but the first of its partition has another that stands before it,
// the same if there is one, and no other page has; a page that comes again is called
// what it was.
func namesOriginals(t *testing.T, log []*sarama.ConsumerMessage) (found duplicates) {
	t.Helper()
	type place struct {
		partition int32
		what      string
	}
	pages, families, texts := map[place]codecs.Parsed{}, map[place]bool{}, map[place]bool{}
	for _, r := range log {
		p := read(t, []string{string(r.Value)})[0]
		in := func(what ...string) place { return place{r.Partition, strings.Join(what, " ")} }
		family, _ := textOf(p.Domain, strings.TrimPrefix(p.URL, origin(p.URL)))
		of := p.DuplicateOf
		if was, again := pages[in(p.ID)]; again {
			if (was.DuplicateOf == nil) != (of == nil) || of != nil && *of != *was.DuplicateOf {
				t.Errorf("%s is %+v, and was %+v", p.URL, of, was.DuplicateOf)
			}
			found.repeats++
			continue
		}
		if (of != nil) != families[in(family)] {
			t.Errorf("%s of family %s is a duplicate of %+v", p.URL, family, of)
		}
		if of != nil {
			original, ok := pages[in(of.ID)]
			differ, err := differing(p.SimHash, original.SimHash)
			switch {
			case !ok || original.URL != of.URL:
				t.Errorf("%s is a duplicate of %+v, which does not stand before it", p.URL, of)
			case (of.Distance == 0) != texts[in(p.ContentHash)] || (of.Distance == 0) != (p.ContentHash == original.ContentHash):
				t.Errorf("%s, of which there is the same: %v, is at distance %d of %s", p.URL, texts[in(p.ContentHash)], of.Distance, of.URL)
			case texts[in(p.ContentHash, p.Domain)] && original.Domain != p.Domain:
				t.Errorf("%s has the text of a page of its domain, and is called a duplicate of %s", p.URL, of.URL)
			case of.Distance > 0 && (err != nil || of.Distance != max(differ, 1)):
				t.Errorf("%s is at distance %d, which are %d bits (%v)", p.URL, of.Distance, differ, err)
			}
			if of.Distance == 0 {
				found.identical++
			} else {
				found.near++
			}
			if original.Domain != p.Domain {
				found.elsewhere++
			}
		}
		pages[in(p.ID)], families[in(family)] = p, true
		texts[in(p.ContentHash)], texts[in(p.ContentHash, p.Domain)] = true, true
	}
	return found
}

// differing is the number of bits in which two SimHashes differ.
func differing(a, b string) (int, error) {
	x, err := strconv.ParseUint(a, 16, 64)
	if err != nil {
		return 0, err
	}
	y, err := strconv.ParseUint(b, 16, 64)
	return bits.OnesCount64(x ^ y), err
}
