package difference

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/weftcrawl/weft/inspect/scratch"
	"github.com/weftcrawl/weft/internal/blob"
)

// Report is what differs from A to B.
type Report struct {
	// A and B are the sets by place, and PagesA and PagesB the numbers of their pages. A page that
	// is there twice counts once, and RepeatsA and RepeatsB count the rest.
	A        string `json:"a"`
	B        string `json:"b"`
	PagesA   int64  `json:"pages_a"`
	PagesB   int64  `json:"pages_b"`
	RepeatsA int64  `json:"repeats_a,omitempty"`
	RepeatsB int64  `json:"repeats_b,omitempty"`

	// Same pages are equal in all members, and Changed ones are not. Added ones are only in B, and
	// Gone ones only in A.
	Same    int64 `json:"same"`
	Changed int64 `json:"changed"`
	Added   int64 `json:"added"`
	Gone    int64 `json:"gone"`
	// AddedURLs and GoneURLs are examples.
	AddedURLs []string `json:"added_urls,omitempty"`
	GoneURLs  []string `json:"gone_urls,omitempty"`

	// Fields are the members that differ in pages that are in both, by name.
	Fields []Field `json:"fields,omitempty"`
}

// Field is a member of records, as in "title" or "fields.price".
type Field struct {
	Name string `json:"name"`
	// Added, Gone and Changed count pages that have the member only in B, only in A, or with
	// another value.
	Added    int64     `json:"added"`
	Gone     int64     `json:"gone"`
	Changed  int64     `json:"changed"`
	Examples []Example `json:"examples,omitempty"`
}

// Example is a page whose member differs. Before and After are JSON from about where the values
// begin to differ, cut; empty: the page does not have the member.
type Example struct {
	URL    string `json:"url"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`

	key   string
	after []byte // nil: B does not have the member
}

// tableBytes is the size of a table in memory of the store.
const tableBytes = 16 << 20

// Compare compares two sets, with so many examples of each kind.
func Compare(ctx context.Context, a, b blob.Bucket, examples int) (report Report, err error) {
	store, err := scratch.Open("weft-diff", tableBytes)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	c := comparison{store: store, examples: examples, fields: map[string]*Field{}}
	c.report.A, c.report.B = a.String(), b.String()
	if err := Pages(ctx, a, c.remember); err != nil {
		return report, err
	}
	if err := Pages(ctx, b, c.compare); err != nil {
		return report, err
	}
	c.store.Scan(nil, nil, func(key, value []byte) bool {
		if value[0] == unseen {
			c.report.Gone++
			if len(c.report.GoneURLs) < examples {
				c.report.GoneURLs = append(c.report.GoneURLs, urlOf(string(key)))
			}
		}
		return true
	})
	if err := c.store.Err(); err != nil {
		return report, err
	}
	if err := c.illustrate(ctx, a); err != nil {
		return report, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.fields)) {
		c.report.Fields = append(c.report.Fields, *c.fields[name])
	}
	return c.report, nil
}

// comparison is a call of Compare. Its store has for each page of the first set a byte that says
// whether the page is in the second one, and then each member: the length of the name, the name, and
// the hash of the value.
type comparison struct {
	store    *scratch.Store
	examples int
	report   Report
	fields   map[string]*Field
}

const (
	unseen byte = iota
	seen
)

func (c *comparison) remember(p Page) error {
	key := []byte(p.key())
	if c.store.Get(key) != nil {
		c.report.RepeatsA++
		return c.store.Err()
	}
	c.report.PagesA++
	value := []byte{unseen}
	for name, member := range p.Members {
		value = binary.AppendUvarint(value, uint64(len(name)))
		value = append(value, name...)
		value = binary.LittleEndian.AppendUint64(value, xxh3.Hash(member))
	}
	c.store.Set(key, value)
	return c.store.Err()
}

func (c *comparison) compare(p Page) error {
	key := []byte(p.key())
	value := c.store.Get(key)
	switch {
	case c.store.Err() != nil:
		return c.store.Err()
	case value == nil:
		c.report.PagesB++
		c.report.Added++
		if len(c.report.AddedURLs) < c.examples {
			c.report.AddedURLs = append(c.report.AddedURLs, p.URL)
		}
		c.store.Set(key, []byte{seen})
		return c.store.Err()
	case value[0] == seen:
		c.report.RepeatsB++
		return nil
	}
	c.report.PagesB++
	had := map[string]uint64{}
	for rest := value[1:]; len(rest) > 0; {
		length, n := binary.Uvarint(rest)
		name := string(rest[n : n+int(length)])
		rest = rest[n+int(length):]
		had[name] = binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
	}
	same := true
	for name, member := range p.Members {
		sum, ok := had[name]
		delete(had, name)
		switch {
		case !ok:
			c.differs(name, p, member).Added++
		case sum != xxh3.Hash(member):
			c.differs(name, p, member).Changed++
		default:
			continue
		}
		same = false
	}
	for name := range had {
		c.differs(name, p, nil).Gone++
		same = false
	}
	if same {
		c.report.Same++
	} else {
		c.report.Changed++
	}
	c.store.Set(key, []byte{seen})
	return c.store.Err()
}

// mostKept is the largest value of an example that is kept until the other one is found.
const mostKept = 1 << 20

// differs returns the field of a member that differs, and takes it as an example.
func (c *comparison) differs(name string, p Page, after json.RawMessage) *Field {
	f := c.fields[name]
	if f == nil {
		f = &Field{Name: name}
		c.fields[name] = f
	}
	if len(f.Examples) < c.examples {
		f.Examples = append(f.Examples, Example{URL: p.URL, key: p.key(), after: slices.Clone(after[:min(len(after), mostKept)])})
	}
	return f
}

// illustrate finds the values that the examples had in the first set.
func (c *comparison) illustrate(ctx context.Context, a blob.Bucket) error {
	type place struct {
		field   string
		example *Example
	}
	wanted := map[string][]place{}
	for name, f := range c.fields {
		for i := range f.Examples {
			wanted[f.Examples[i].key] = append(wanted[f.Examples[i].key], place{name, &f.Examples[i]})
		}
	}
	errFound := errors.New("all are found")
	if len(wanted) == 0 {
		return nil
	}
	err := Pages(ctx, a, func(p Page) error {
		for _, one := range wanted[p.key()] {
			one.example.Before, one.example.After = around(p.Members[one.field], one.example.after)
		}
		if delete(wanted, p.key()); len(wanted) == 0 {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

const (
	// contextBytes are shown in front of the first difference, and exampleBytes in all.
	contextBytes, exampleBytes = 30, 160
)

// around returns two values from a little before their first difference on.
func around(before, after []byte) (string, string) {
	at := 0
	for at < min(len(before), len(after)) && before[at] == after[at] {
		at++
	}
	return cut(before, at), cut(after, at)
}

// cut returns the part of a text around a place, in whole characters.
func cut(text []byte, at int) string {
	from := max(0, at-contextBytes)
	to := min(len(text), from+exampleBytes)
	for from > 0 && from < len(text) && text[from]&0xc0 == 0x80 {
		from--
	}
	for to < len(text) && text[to]&0xc0 == 0x80 {
		to++
	}
	if from >= to {
		return ""
	}
	out := string(text[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}

// Page is a record with its members.
type Page struct {
	URL, FetchedAt string
	// Members are the values by name. Those of an object are members of their own: "fields.price".
	Members map[string]json.RawMessage
}

// separator stands in no URL and no time.
const separator = " "

func (p Page) key() string { return p.URL + separator + p.FetchedAt }

func urlOf(key string) string {
	for i := range len(key) {
		if key[i] == separator[0] {
			return key[:i]
		}
	}
	return key
}

// readPage reads a line.
func readPage(line []byte) (p Page, err error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(line, &top); err != nil {
		return p, fmt.Errorf("read a page: %w", err)
	}
	err = errors.Join(json.Unmarshal(top["url"], &p.URL), json.Unmarshal(top["fetched_at"], &p.FetchedAt))
	if err != nil || p.URL == "" {
		return p, errors.New("read a page: the record has no url and fetched_at")
	}
	p.Members = make(map[string]json.RawMessage, len(top))
	for name, value := range top {
		var inner map[string]json.RawMessage
		if value[0] != '{' || json.Unmarshal(value, &inner) != nil || len(inner) == 0 {
			p.Members[name] = value
			continue
		}
		for below, value := range inner {
			p.Members[name+"."+below] = value
		}
	}
	return p, nil
}
