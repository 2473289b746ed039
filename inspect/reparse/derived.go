package reparse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/processors/archive"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/processors/parse/document"
)

// derived is a file of WET or WAT: warcinfo, and a record for each page. A page without a text has
// no record in WET.
type derived struct {
	file *warc.File
	of   string // the name of the file of the archive
	wet  bool
}

func (o *Options) newDerived(w io.Writer, s *source) (*derived, error) {
	packing := warc.Options{Compression: warc.Compression(o.Compression)}
	packer, err := warc.NewPacker(packing)
	if err != nil {
		return nil, err
	}
	head := s.head
	head.Name = archive.Stem(s.name) + o.extension()
	head.Info = []warc.Field{{Name: "software", Value: "weft " + o.Version}, {Name: "description", Value: strings.ToUpper(string(o.Format)) + " of " + s.name}}
	if _, err := w.Write(head.Member(packing.Compression)); err != nil {
		return nil, err
	}
	return &derived{file: warc.NewFile(w, nil, packer), of: s.name, wet: o.Format == WET}, nil
}

func (d *derived) add(p page) error {
	parsed, err := p.decoded()
	if err != nil {
		return err
	}
	if d.wet {
		return d.conversion(p, &parsed)
	}
	block, err := json.Marshal(d.metadata(p, &parsed))
	if err != nil {
		return fmt.Errorf("describe %s: %w", parsed.URL, err)
	}
	return d.file.AddDerived(warc.Derived{Type: "metadata", Of: p.response, ContentType: "application/json", Block: block})
}

func (d *derived) close() error { return nil }

// conversion adds title and text of a page.
func (d *derived) conversion(p page, parsed *codecs.Parsed) error {
	if parsed.Text == "" {
		return nil
	}
	text := parsed.Text
	if parsed.Title != "" {
		text = parsed.Title + "\n" + text
	}
	return d.file.AddDerived(warc.Derived{
		Type: "conversion", Of: p.response, ContentType: "text/plain", Languages: warc.Language(parsed.Detected), Block: []byte(text),
	})
}

// The metadata of a response in WAT, with the names of Common Crawl.
type (
	metadata struct {
		Container container
		Envelope  envelope
	}
	container struct {
		Filename   string
		Compressed bool
		Offset     string
		// Length is that of the member, of any compression. Common Crawl has it in Gzip only.
		Length string        `json:"Deflate-Length"`
		Gzip   *gzipMetadata `json:"Gzip-Metadata,omitempty"`
	}
	gzipMetadata struct {
		Header         string `json:"Header-Length"`
		Footer         string `json:"Footer-Length"`
		CRC            string `json:"Inflated-CRC"` // a signed number
		InflatedLength string `json:"Inflated-Length"`
		Length         string `json:"Deflate-Length"`
	}
	envelope struct {
		Format  string
		Length  string         `json:"WARC-Header-Length"`
		Header  map[string]any `json:"WARC-Header-Metadata"`
		Payload payload        `json:"Payload-Metadata"`
	}
	payload struct {
		ContentType   string       `json:"Actual-Content-Type"`
		ContentLength string       `json:"Actual-Content-Length"`
		Response      httpResponse `json:"HTTP-Response-Metadata"`
	}
	httpResponse struct {
		Message struct {
			Version, Status, Reason string
		} `json:"Response-Message"`
		HeadersLength string `json:"Headers-Length"`
		Headers       map[string]any
		EntityLength  string        `json:"Entity-Length"`
		EntityDigest  string        `json:"Entity-Digest,omitempty"`
		HTML          *htmlMetadata `json:"HTML-Metadata,omitempty"`
	}
	htmlMetadata struct {
		Head  htmlHead
		Links []htmlLink `json:",omitempty"`
	}
	htmlHead struct {
		Title   string              `json:",omitempty"`
		Metas   []map[string]string `json:",omitempty"`
		Links   []htmlLink          `json:"Link,omitempty"`
		Scripts []htmlLink          `json:",omitempty"` // also those of the body, as in Common Crawl
	}
	htmlLink struct {
		Path string `json:"path"`
		URL  string `json:"url"`
		Text string `json:"text,omitempty"`
		Alt  string `json:"alt,omitempty"`
		Rel  string `json:"rel,omitempty"`
	}
)

// metadata describes a page, whose URLs are absolute.
func (d *derived) metadata(p page, parsed *codecs.Parsed) metadata {
	head, _ := p.response.Message()
	m := metadata{
		Container: containerOf(d.of, p),
		Envelope:  envelope{Format: "WARC", Length: strconv.Itoa(p.response.HeaderBytes), Header: map[string]any{}},
	}
	for _, f := range p.response.Fields() {
		put(m.Envelope.Header, f.Name, f.Value)
	}
	m.Envelope.Payload.ContentType = "application/http; msgtype=response"
	m.Envelope.Payload.ContentLength = strconv.Itoa(len(p.response.Block))
	response := &m.Envelope.Payload.Response
	response.HeadersLength, response.EntityLength = strconv.Itoa(len(head)), strconv.FormatInt(p.payload, 10)
	response.EntityDigest = p.response.Field("WARC-Payload-Digest")
	response.Headers = map[string]any{}
	for i, line := range bytes.Split(head, []byte("\n")) {
		text := strings.TrimRight(string(line), "\r")
		if i == 0 {
			response.Message.Version, text, _ = strings.Cut(text, " ")
			response.Message.Status, response.Message.Reason, _ = strings.Cut(text, " ")
		} else if name, value, ok := strings.Cut(text, ":"); ok {
			put(response.Headers, name, strings.Trim(value, " \t"))
		}
	}
	response.HTML = htmlOf(parsed)
	return m
}

// containerOf says where the response of a page is.
func containerOf(file string, p page) container {
	length := strconv.FormatInt(p.length, 10)
	c := container{Filename: file, Compressed: true, Offset: strconv.FormatInt(p.offset, 10), Length: length}
	if g := p.gzip; g != nil {
		c.Gzip = &gzipMetadata{
			Header: strconv.Itoa(gzipHeaderBytes), Footer: strconv.Itoa(gzipFooterBytes), Length: length,
			CRC: strconv.Itoa(int(int32(g.crc))), InflatedLength: strconv.FormatUint(uint64(g.inflated), 10),
		}
	}
	return c
}

// put puts a value into an object; several values of one name are an array.
func put(object map[string]any, name, value string) {
	switch there := object[name].(type) {
	case nil:
		object[name] = value
	case string:
		object[name] = []string{there, value}
	case []string:
		object[name] = append(there, value)
	}
}

// htmlOf is what a page of HTML says; nil: it is of another type.
func htmlOf(parsed *codecs.Parsed) *htmlMetadata {
	if !mediatype.IsHTML(parsed.ContentType) {
		return nil
	}
	h := &htmlMetadata{Head: htmlHead{Title: parsed.Title}}
	for _, meta := range [][2]string{{"description", parsed.Description}, {"keywords", parsed.Keywords}, {"author", parsed.Author}} {
		if meta[1] != "" {
			h.Head.Metas = append(h.Head.Metas, map[string]string{"name": meta[0], "content": meta[1]})
		}
	}
	for _, one := range parsed.OpenGraph {
		h.Head.Metas = append(h.Head.Metas, map[string]string{"property": one.Name, "content": one.Content})
	}
	for _, l := range parsed.Links {
		switch link := linkOf(l); link.Path {
		case linkElement:
			h.Head.Links = append(h.Head.Links, link)
		case scriptElement:
			h.Head.Scripts = append(h.Head.Scripts, htmlLink{Path: link.Path, URL: link.URL})
		default:
			h.Links = append(h.Links, link)
		}
	}
	return h
}

// linkElement and scriptElement are the paths of links of the head.
const (
	linkElement   = "LINK@/href"
	scriptElement = "SCRIPT@/src"
)

// paths are how WAT says which element and attribute a link is from.
var paths = map[document.Kind]string{
	document.KindAnchor: "A@/href", document.KindArea: "AREA@/href", document.KindFrame: "FRAME@/src", document.KindIframe: "IFRAME@/src",
	document.KindRefresh: "META@/content", document.KindForm: "FORM@/action", document.KindImage: "IMG@/src",
	document.KindMedia: "SOURCE@/src", document.KindScript: scriptElement,
	document.KindCanonical: linkElement, document.KindAlternate: linkElement, document.KindNext: linkElement, document.KindPrev: linkElement,
	document.KindStylesheet: linkElement, document.KindIcon: linkElement,
}

func linkOf(l codecs.ParsedLink) htmlLink {
	kind := document.Kind(l.Kind)
	if kind == document.KindNoscript {
		kind = document.Kind(l.Element)
	}
	link := htmlLink{Path: cmp.Or(paths[kind], "A@/href"), URL: l.URL, Text: l.Text, Rel: l.Rel}
	if kind == document.KindImage {
		link.Alt, link.Text = l.Text, ""
	}
	if link.Path == linkElement {
		link.Rel = cmp.Or(link.Rel, l.Kind)
	}
	return link
}
