package structured

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/processors/parse/dates"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/extract"
)

// summary makes dates, authors, breadcrumbs and prices of what the page says.
func (p *page) summary() {
	s := &summary{p: p}
	if len(p.data.Items) > 0 {
		s.ids = map[string]*codecs.ParsedItem{}
		for i := range p.data.Items {
			s.index(&p.data.Items[i])
		}
		s.main = s.mains()
		for i := range p.data.Items {
			s.walk(&p.data.Items[i], p.data.Items[i].Source, "")
		}
	}
	s.dates()
	s.authors()
	s.metaPrices()
}

type summary struct {
	p *page
	// ids finds the item with an id that says most.
	ids map[string]*codecs.ParsedItem
	// main are the items that the page is about.
	main []mainItem
}

type mainItem struct {
	*codecs.ParsedItem
	source string
}

func (s *summary) index(item *codecs.ParsedItem) {
	if item.ID != "" {
		if known := s.ids[item.ID]; known == nil || len(item.Properties) > len(known.Properties) {
			s.ids[item.ID] = item
		}
	}
	for _, name := range sortedNames(item) {
		for _, v := range item.Properties[name] {
			if v.Item != nil {
				s.index(v.Item)
			}
		}
	}
}

// whole is the item that a value is, or refers to; nil: it is not an item.
func (s *summary) whole(v codecs.ParsedValue) *codecs.ParsedItem {
	if v.Item == nil || v.Item.ID == "" {
		return v.Item
	}
	return s.ids[v.Item.ID]
}

// besides are types of items that have dates and authors of their own, though the page is not about them.
var besides = setOf("Comment", "UserComments", "Review", "UserReview", "CriticReview", "Rating", "AggregateRating", "ImageObject", "VideoObject", "AudioObject", "MediaObject",
	"Answer", "Organization", "Person", "BreadcrumbList", "ListItem", "SiteNavigationElement", "WPHeader", "WPFooter", "WPSideBar", "Offer", "AggregateOffer",
	"DataDownload", "SearchAction")

// frames are types of items that stand for the page or the site. They count if there is no other.
var frames = setOf("WebPage", "WebSite", "CollectionPage", "ItemPage", "AboutPage", "ContactPage", "ProfilePage", "SearchResultsPage", "FAQPage", "QAPage", "Blog", "ItemList", "CreativeWork")

// mains are, for each source, the item that the page is about: the only one on the highest level that has a
// date or an author.
func (s *summary) mains() (mains []mainItem) {
	for _, source := range []string{JSONLD, Microdata, RDFa} {
		var level []*codecs.ParsedItem
		for i := range s.p.data.Items {
			if item := &s.p.data.Items[i]; item.Source == source {
				level = append(level, item)
			}
		}
		for depth := 0; len(level) > 0 && depth < 4; depth++ {
			works, pages := candidates(level)
			if len(works) == 0 && depth == 0 && len(pages) == 1 {
				if inner, _ := candidates(inside(level)); len(inner) != 1 {
					works = pages
				}
			}
			if len(works) == 1 {
				mains = append(mains, mainItem{works[0], source})
			}
			if len(works) > 0 {
				break
			}
			level = inside(level)
		}
	}
	return mains
}

// candidates are the items with a date or an author: works, and those that stand for the page.
func candidates(level []*codecs.ParsedItem) (works, pages []*codecs.ParsedItem) {
	for _, item := range level {
		dated := false
		for _, name := range []string{"datePublished", "dateModified", "dateCreated", "author", "creator"} {
			dated = dated || len(item.Properties[name]) > 0
		}
		is := func(set map[string]bool) bool {
			return slices.ContainsFunc(item.Types, func(t string) bool { return set[t] })
		}
		switch {
		case !dated || is(besides):
		case is(frames):
			pages = append(pages, item)
		default:
			works = append(works, item)
		}
	}
	return works, pages
}

// inside are the items that are values of items, in an order that is always the same.
func inside(level []*codecs.ParsedItem) (next []*codecs.ParsedItem) {
	for _, item := range level {
		if slices.ContainsFunc(item.Types, func(t string) bool { return besides[t] }) {
			continue
		}
		for _, name := range sortedNames(item) {
			for _, v := range item.Properties[name] {
				if v.Item != nil {
					next = append(next, v.Item)
				}
			}
		}
	}
	return next
}

func sortedNames(item *codecs.ParsedItem) []string {
	names := make([]string, 0, len(item.Properties))
	for name := range item.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// said is one statement about the page.
type said struct{ source, property, value string }

// ofMain are what the items that the page is about have of a property.
func (s *summary) ofMain(names ...string) (found []said) {
	for _, item := range s.main {
		for _, name := range names {
			for _, v := range item.Properties[name] {
				if text := plain(v); text != "" {
					found = append(found, said{item.source, name, text})
					break
				}
			}
		}
	}
	return found
}

// plain is a value as a text.
func plain(v codecs.ParsedValue) string {
	return cmp.Or(v.Text, string(v.Number), v.URL)
}

// ofMeta are what meta elements say by some names.
func (s *summary) ofMeta(names ...string) (found []said) {
	for _, name := range names {
		for _, list := range [][]document.Property{s.p.Page.OpenGraph, s.p.Page.Metadata} {
			for _, property := range list {
				if property.Name == name {
					found = append(found, said{sourceOfName(name), name, property.Content})
				}
			}
		}
	}
	return found
}

func sourceOfName(name string) string {
	switch {
	case strings.HasPrefix(name, "dc.") || strings.HasPrefix(name, "dcterms.") || strings.HasPrefix(name, "dc:") || strings.HasPrefix(name, "dcterms:"):
		return DublinCore
	case strings.Contains(name, ":"):
		return OpenGraph
	}
	return Meta
}

func (s *summary) dates() {
	published := slices.Concat(
		s.ofMeta("article:published_time"), s.ofMain("datePublished", "dateCreated"),
		s.ofMeta("dc.date.issued", "dcterms.issued", "dcterms:issued", "dc.date.created", "dcterms.created", "dcterms:created", "dc.date", "dc:date", "dcterms.date", "dcterms:date"),
	)
	for _, n := range s.p.times {
		text, ok := attribute(n, "datetime")
		if !ok {
			text = s.p.textOf(Time, n)
		}
		published = append(published, said{Time, "pubdate", text})
	}
	published = append(published, s.ofMeta("pubdate", "publish-date", "citation_publication_date", "date")...)
	s.p.data.Published = s.date(published)

	modified := slices.Concat(
		s.ofMeta("article:modified_time", "og:updated_time"), s.ofMain("dateModified"),
		s.ofMeta("dcterms.modified", "dcterms:modified", "dc.date.modified", "last-modified"),
	)
	if s.p.data.Modified = s.date(modified); s.p.data.Modified == nil {
		s.p.data.Modified = s.p.httpDate()
	}
}

// httpDate is the date of the header field; nil: there is none.
func (p *page) httpDate() *codecs.ParsedDate {
	if p.LastModified == "" {
		return nil
	}
	t, err := http.ParseTime(p.LastModified)
	if err != nil {
		p.problem(HTTP, BadDate, p.LastModified)
		return nil
	}
	return &codecs.ParsedDate{Date: t.UTC().Format(time.RFC3339), Source: HTTP, Property: "last-modified"}
}

// date is the first statement that is a date. Those in front of it are named.
func (s *summary) date(statements []said) *codecs.ParsedDate {
	for _, one := range statements {
		if date := dates.Format(one.value); date != "" {
			return &codecs.ParsedDate{Date: date, Source: one.source, Property: one.property}
		}
		s.p.problem(one.source, BadDate, one.property+": "+one.value)
	}
	return nil
}

// authors finds who wrote the page, each once.
func (s *summary) authors() {
	for _, item := range s.main {
		for _, name := range []string{"author", "creator"} {
			for _, v := range item.Properties[name] {
				if whole := s.whole(v); whole == nil {
					s.author(v.Text, v.URL, item.source)
				} else {
					s.author(nameOf(whole), urlOf(whole), item.source)
				}
			}
		}
	}
	for _, one := range s.ofMeta("article:author", "dc.creator", "dcterms.creator", "dc:creator", "citation_author") {
		if isWebURL(one.value) {
			s.author("", s.p.absolute(one.source, one.value), one.source)
		} else {
			s.author(one.value, "", one.source)
		}
	}
	if s.p.Page.Author != "" {
		s.author(s.p.Page.Author, "", Meta)
	}
}

func (s *summary) author(name, url, source string) {
	d := s.p.data
	if name == "" && url == "" || len(d.Authors) == s.p.opts.MaxEntries {
		return
	}
	for _, known := range d.Authors {
		if name != "" && strings.EqualFold(known.Name, name) || name == "" && known.URL == url {
			return
		}
	}
	d.Authors = append(d.Authors, codecs.ParsedAuthor{Name: extract.OneLine(name, 1024), URL: url, Source: source})
}

// nameOf is the name of an item.
func nameOf(item *codecs.ParsedItem) string {
	for _, name := range []string{"name", "http://xmlns.com/foaf/0.1/name", "headline"} {
		for _, v := range item.Properties[name] {
			if v.Text != "" {
				return v.Text
			}
		}
	}
	var parts []string
	for _, name := range []string{"givenName", "familyName"} {
		if values := item.Properties[name]; len(values) > 0 && values[0].Text != "" {
			parts = append(parts, values[0].Text)
		}
	}
	return strings.Join(parts, " ")
}

// urlOf is the URL of an item.
func urlOf(item *codecs.ParsedItem) string {
	for _, v := range item.Properties["url"] {
		if v.URL != "" {
			return v.URL
		}
	}
	if isWebURL(item.ID) {
		return item.ID
	}
	return ""
}

// walk finds breadcrumbs and prices in an item. name is that of the item around it.
func (s *summary) walk(item *codecs.ParsedItem, source, name string) {
	if slices.Contains(item.Types, "BreadcrumbList") {
		s.crumbs(item)
	}
	name = cmp.Or(nameOf(item), name)
	priced := s.price(item, source, name)
	for _, property := range sortedNames(item) {
		if priced && property == "priceSpecification" {
			continue
		}
		for _, v := range item.Properties[property] {
			if v.Item != nil {
				s.walk(v.Item, source, name)
			}
		}
	}
}

// crumbs reads a BreadcrumbList.
func (s *summary) crumbs(list *codecs.ParsedItem) {
	type step struct {
		codecs.ParsedCrumb
		position int
	}
	var steps []step
	for i, v := range list.Properties["itemListElement"] {
		if len(steps) == s.p.opts.MaxEntries {
			break
		}
		next := step{position: i + 1}
		if element := s.whole(v); element == nil {
			next.ParsedCrumb = codecs.ParsedCrumb{Name: v.Text, URL: v.URL}
		} else {
			next.ParsedCrumb = codecs.ParsedCrumb{Name: nameOf(element), URL: urlOf(element)}
			for _, v := range element.Properties["item"] {
				if thing := s.whole(v); thing == nil {
					next.URL = cmp.Or(v.URL, next.URL)
				} else {
					next.Name, next.URL = cmp.Or(next.Name, nameOf(thing)), cmp.Or(urlOf(thing), next.URL)
				}
			}
			for _, v := range element.Properties["position"] {
				if n, err := strconv.Atoi(cmp.Or(string(v.Number), v.Text)); err == nil {
					next.position = n
				}
			}
		}
		if next.ParsedCrumb != (codecs.ParsedCrumb{}) {
			steps = append(steps, next)
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.position, b.position) })
	crumbs := make([]codecs.ParsedCrumb, len(steps))
	for i, step := range steps {
		crumbs[i] = step.ParsedCrumb
	}
	d := s.p.data
	if len(crumbs) > 0 && len(d.Breadcrumbs) < s.p.opts.MaxEntries && !slices.ContainsFunc(d.Breadcrumbs, func(known []codecs.ParsedCrumb) bool { return slices.Equal(known, crumbs) }) {
		d.Breadcrumbs = append(d.Breadcrumbs, crumbs)
	}
}

// price reads the price of an item, and reports whether it has one.
func (s *summary) price(item *codecs.ParsedItem, source, name string) bool {
	first := func(names ...string) string {
		for _, name := range names {
			for _, v := range item.Properties[name] {
				if text := plain(v); text != "" {
					return text
				}
			}
		}
		return ""
	}
	amount := first("price", "lowPrice", "minPrice", "highPrice", "maxPrice")
	if amount == "" {
		return false
	}
	s.addPrice(codecs.ParsedPrice{
		Amount: amount, Highest: first("highPrice", "maxPrice"), Currency: first("priceCurrency", "currency"), Item: name,
		Availability: availability(first("availability")), Source: source,
	})
	return true
}

// availability returns the name of an availability. Shops may write the name alone (Google Search Central,
// "Product snippet structured data"), which was then read as a reference relative to the page.
func availability(value string) string {
	name := short(value)
	switch last := name[strings.LastIndexByte(name, '/')+1:]; last {
	case "BackOrder", "Discontinued", "InStock", "InStoreOnly", "LimitedAvailability", "MadeToOrder", "OnlineOnly", "OutOfStock",
		"PreOrder", "PreSale", "Reserved", "SoldOut":
		return last
	}
	return name
}

// metaPrices reads the prices of meta elements.
func (s *summary) metaPrices() {
	for _, prefix := range []string{"product:price:", "og:price:"} {
		currencies := s.ofMeta(prefix + "currency")
		for i, one := range s.ofMeta(prefix + "amount") {
			price := codecs.ParsedPrice{Amount: one.value, Source: OpenGraph}
			if i < len(currencies) {
				price.Currency = currencies[i].value
			}
			s.addPrice(price)
		}
	}
}

func (s *summary) addPrice(price codecs.ParsedPrice) {
	d := s.p.data
	written := price.Amount
	amount, ok := extract.Decimal(written, 0)
	if !ok {
		s.p.problem(price.Source, BadPrice, written)
		return
	}
	price.Amount = amount
	if highest, ok := extract.Decimal(price.Highest, 0); ok && highest != amount {
		price.Highest = highest
	} else {
		price.Highest = ""
	}
	price.Currency = strings.ToUpper(strings.TrimSpace(price.Currency))
	if !extract.IsCurrency(price.Currency) {
		price.Currency = extract.Currency(price.Currency+" "+written, "")
	}
	if len(d.Prices) == s.p.opts.MaxEntries || slices.ContainsFunc(d.Prices, func(known codecs.ParsedPrice) bool {
		return known.Amount == price.Amount && known.Highest == price.Highest && known.Currency == price.Currency && (known.Item == price.Item || price.Item == "")
	}) {
		return
	}
	price.Item = extract.OneLine(price.Item, 1024)
	d.Prices = append(d.Prices, price)
}
