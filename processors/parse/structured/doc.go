// Package structured reads what a page says about itself for programs: JSON-LD, microdata, RDFa, Open
// Graph, Twitter Cards, Dublin Core, dates, authors, breadcrumbs and prices.
//
// It is pure, and it never fails. What is wrong with the data is named in Problems of the result, and
// the rest of the data counts. Options bound depth, numbers and bytes, and the work.
//
//	meta elements ──────────────────→ opengraph ─┐
//	scripts ─ repair → JSON → context → jsonld ──┼→ items ─ summary → dates, authors, breadcrumbs, prices
//	tree ─┬─────────────────────────→ microdata ─┤
//	      └─────────────────────────→ rdfa ──────┘
//
// The reader of a document (package document) yields meta elements and scripts. Only a page that has an
// attribute of microdata or RDFa needs a tree (Page.Annotated).
//
// # One shape
//
// The three languages say the same in different words. An item here has types, an id and properties, and a
// property has values in the order of the page:
//
//   - Names of schema.org, http and https alike, have no prefix. Other names are URLs if their
//     vocabulary is known, and as written otherwise.
//   - A text that is as a whole an absolute http or https URL is a URL. URLs are absolute, in plain form.
//   - White space in the text of elements is folded to one line.
//   - A value with nothing but an id refers to the item with that id, in the page or elsewhere. Items stand
//     where the page has them, so the size of the result is that of the page, whatever refers to what.
//
// # What is read of each language
//
// JSON-LD 1.1 without requests: the context of schema.org is known in so far as it gives all names the
// prefix of schema.org, and makes URLs of the values of urlProperties. Terms, prefixes, @vocab, @base,
// @graph, @id, aliases of keywords, @value, @language, @list, @set and containers of languages count.
// Another remote context is unknown_context; @reverse, @nest and @included are unsupported.
//
// Microdata as the HTML standard defines it. As validators do, the content attribute of any element
// without a URL counts.
//
// RDFa 1.1 Lite, and of RDFa Core about, content, datatype, datetime, rel with a prefix, chaining, and
// prefixes by xmlns. There are no languages, XML literals, rev and lists. Meta elements of Open Graph and
// of its relatives are not items.
package structured
