package warc

import (
	"cmp"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
)

// record is one WARC record: fields, and a block that is a head and a payload.
type record struct {
	fields  []Field
	head    []byte
	payload []byte
	coded   bool     // the payload has a content coding
	entry   *spooled // in the index; nil: it has no entry
}

const dateFormat = "2006-01-02T15:04:05.000Z"

// Profiles of revisit records (WARC 1.1 section 6.7).
const (
	samePayload = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
	notModified = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
)

// records returns the records of an exchange: response or revisit, and request. An
// exchange without a response has a metadata record, which says why.
func (f *File) records(x *weftpb.Fetched, facts Facts) ([]record, error) {
	target := x.GetRequest().GetTarget().GetUrl()
	if target == "" {
		return nil, nil
	}
	began := time.UnixMilli(codecs.ExchangedMs(x)).UTC()
	date := began.Format(dateFormat)
	common := []Field{{"WARC-Target-URI", target}, {"WARC-Date", date}}
	if x.GetOutcome().GetStatus() == 0 {
		return []record{failure(x, common)}, nil
	}
	if ip, _, err := net.SplitHostPort(x.GetRemote()); err == nil {
		common = append(common, Field{"WARC-IP-Address", ip})
	}
	if strings.HasPrefix(x.GetProto(), "HTTP/2") {
		common = append(common, Field{"WARC-Protocol", "h2"})
	}
	response := record{head: responseHead(x), payload: payload(x), coded: len(x.GetCodedBody()) > 0}
	responseID := recordID(x, "response")
	sum, original := sha1.Sum(response.payload), false
	label := digestOf(sum)
	typed := Field{"Content-Type", "application/http;msgtype=response"}
	mime := mediaType(x)
	at, known := f.payloads[sum]
	switch {
	case x.GetOutcome().GetStatus() == http.StatusNotModified:
		response.payload, mime, label = nil, "warc/revisit", ""
		response.fields = slices.Concat([]Field{{"WARC-Type", "revisit"}, {"WARC-Record-ID", responseID}}, common, []Field{
			typed, {"WARC-Profile", notModified}, {"WARC-Refers-To-Target-URI", target},
		})
	case known:
		first, err := f.index.read(at)
		if err != nil {
			return nil, err
		}
		response.payload, mime = nil, "warc/revisit"
		response.fields = slices.Concat([]Field{{"WARC-Type", "revisit"}, {"WARC-Record-ID", responseID}}, common, []Field{
			typed, {"WARC-Payload-Digest", label}, {"WARC-Profile", samePayload},
			{"WARC-Refers-To", first.id}, {"WARC-Refers-To-Target-URI", first.url}, {"WARC-Refers-To-Date", first.date},
		})
	default:
		response.fields = slices.Concat([]Field{{"WARC-Type", "response"}, {"WARC-Record-ID", responseID}}, common, []Field{typed, {"WARC-Payload-Digest", label}})
		if reason := truncation(facts); reason != "" {
			response.fields = append(response.fields, Field{"WARC-Truncated", reason})
		} else {
			original = len(response.payload) > 0
		}
	}
	response.fields = append(response.fields, Field{factsField, facts.json()})
	response.entry = &spooled{
		Entry: Entry{Date: began, URL: target, MIME: mime, Status: strconv.Itoa(int(x.GetOutcome().GetStatus())), Digest: label},
		id:    responseID, sum: sum, original: original,
	}

	request := record{head: requestHead(x, target)}
	request.fields = slices.Concat([]Field{{"WARC-Type", "request"}, {"WARC-Record-ID", recordID(x, "request")}}, common, []Field{
		{"Content-Type", "application/http;msgtype=request"}, {"WARC-Concurrent-To", responseID},
	})
	return []record{response, request}, nil
}

// truncation is why a payload is not the whole body, in the words of WARC 1.1 section 5.13; empty: it is.
func truncation(facts Facts) string {
	switch {
	case facts.Truncated:
		return "length"
	case facts.ErrorClass == "body_truncated":
		return "disconnect"
	case facts.ErrorClass == "total_timeout", facts.ErrorClass == "slow_body":
		return "time"
	case facts.ErrorClass != "":
		return "unspecified"
	}
	return ""
}

// failure is the record of an exchange without a response.
func failure(x *weftpb.Fetched, common []Field) record {
	return record{
		fields: slices.Concat([]Field{{"WARC-Type", "metadata"}, {"WARC-Record-ID", recordID(x, "metadata")}}, common, []Field{
			{"Content-Type", "application/warc-fields"},
		}),
		head: appendField(appendField(nil, "error-class", x.GetOutcome().GetErrorClass()), "error", x.GetOutcome().GetError()),
	}
}

// Metadata is what is known of a page.
type Metadata struct {
	// ID and Date are those of the page's exchange: the id of Fetched and the time of its request.
	ID   string
	URL  string
	Date time.Time
	// JSON is one object, on one line.
	JSON []byte
}

// ParsedField is the field of a metadata record that has the JSON. A block that is JSON would be a
// page to programs that index and replay files: they leave out metadata only in the form of fields.
const ParsedField = "weft-parsed"

// AddMetadata adds a record that refers to the response of a page. The response is in another
// file, or not archived yet.
func (f *File) AddMetadata(m Metadata) error {
	f.has(m.Date)
	r := record{fields: metadataFields(m), head: []byte(ParsedField + ": "), payload: append(m.JSON, '\r', '\n')}
	if err := f.write(&r); err != nil {
		return fmt.Errorf("write WARC: %w", err)
	}
	return nil
}

func metadataFields(m Metadata) []Field {
	date := m.Date.UTC().Format(dateFormat)
	return []Field{
		{"WARC-Type", "metadata"}, {"WARC-Record-ID", idOf(m.ID, m.URL, m.Date.UnixMilli(), "parsed")},
		{"WARC-Target-URI", m.URL}, {"WARC-Date", date}, {"Content-Type", "application/warc-fields"},
		{"WARC-Refers-To", idOf(m.ID, m.URL, m.Date.UnixMilli(), "response")},
		{"WARC-Refers-To-Target-URI", m.URL}, {"WARC-Refers-To-Date", date},
	}
}

// payload is the body as it came, after any transfer coding, or else without its codings.
func payload(x *weftpb.Fetched) []byte {
	if coded := x.GetCodedBody(); len(coded) > 0 {
		return coded
	}
	return x.GetBody()
}

// mediaType is the type in the response's Content-Type, as it is in indexes; empty: there is none.
func mediaType(x *weftpb.Fetched) string {
	for _, h := range x.GetHeaders() {
		if strings.EqualFold(h.GetName(), "Content-Type") {
			return essence(h.GetValue())
		}
	}
	return ""
}

// recordEnd is what follows the block of a record.
var recordEnd = []byte("\r\n\r\n")

// appendHeader appends the fields of the record, with those that depend on its block. A block with
// a payload has no digest of its own: it would be a second pass over the payload, which has its
// digest. The checksum of the member is of the whole record.
func (r *record) appendHeader(b []byte) []byte {
	b = append(b, "WARC/1.1\r\n"...)
	for _, f := range r.fields {
		b = appendField(b, f.Name, f.Value)
	}
	if len(r.payload) == 0 {
		b = appendField(b, "WARC-Block-Digest", digest(r.head))
	}
	b = appendField(b, "Content-Length", strconv.Itoa(len(r.head)+len(r.payload)))
	return append(b, '\r', '\n')
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, oneLine(name)...)
	b = append(b, ": "...)
	b = append(b, oneLine(value)...)
	return append(b, '\r', '\n')
}

// oneLine replaces line breaks in a value, which would begin another field or end the
// header.
func oneLine(s string) string {
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\r') < 0 { // ContainsAny takes ten times as long
		return s
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}

// digest is the labelled SHA-1 in base 32, which all readers know.
func digest(text []byte) string { return digestOf(sha1.Sum(text)) }

func digestOf(sum [sha1.Size]byte) string {
	return string(base32.StdEncoding.AppendEncode([]byte("sha1:"), sum[:]))
}

// recordID is the id of a record of an exchange.
func recordID(f *weftpb.Fetched, kind string) string {
	return idOf(f.GetId(), f.GetRequest().GetTarget().GetUrl(), codecs.ExchangedMs(f), kind)
}

// idOf is a version 5 UUID (RFC 9562 section 5.5) of exchange and type.
func idOf(id, target string, startedMs int64, kind string) string {
	name := cmp.Or(id, target) + "\x00" + strconv.FormatInt(startedMs, 10) + "\x00" + kind
	return "<urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String() + ">"
}

func requestHead(f *weftpb.Fetched, target string) []byte {
	if head := f.GetRequestHead(); len(head) > 0 {
		return head
	}
	path, host := target, ""
	if u, err := url.Parse(target); err == nil {
		path, host = u.RequestURI(), u.Host
	}
	b := append([]byte(nil), "GET "+oneLine(path)+" HTTP/1.1\r\n"...)
	hasHost := slices.ContainsFunc(f.GetRequestHeaders(), func(h *weftpb.Header) bool { return strings.EqualFold(h.GetName(), "Host") })
	if host != "" && !hasHost {
		b = appendField(b, "Host", host)
	}
	for _, h := range f.GetRequestHeaders() {
		b = appendField(b, h.GetName(), h.GetValue())
	}
	return append(b, '\r', '\n')
}
