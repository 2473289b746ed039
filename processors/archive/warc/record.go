package warc

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/weftcrawl/weft/codecs/weftpb"
)

// record is one WARC record: fields, and a block that is a head and a payload.
type record struct {
	fields  []Field
	head    []byte
	payload []byte
}

func records(f *weftpb.Fetched) (response, request record) {
	target := f.GetRequest().GetTarget().GetUrl()
	date := time.UnixMilli(f.GetOutcome().GetStartedMs()).UTC().Format("2006-01-02T15:04:05.000Z")
	responseID := recordID(f, "response")
	common := []Field{{"WARC-Target-URI", target}, {"WARC-Date", date}}
	if ip, _, err := net.SplitHostPort(f.GetRemote()); err == nil {
		common = append(common, Field{"WARC-IP-Address", ip})
	}
	if strings.HasPrefix(f.GetProto(), "HTTP/2") {
		common = append(common, Field{"WARC-Protocol", "h2"})
	}

	response.fields = append([]Field{{"WARC-Type", "response"}, {"WARC-Record-ID", responseID}}, common...)
	response.fields = append(response.fields, Field{"Content-Type", "application/http;msgtype=response"},
		Field{"WARC-Payload-Digest", digest(f.GetBody())})
	if f.GetOutcome().GetTruncated() {
		response.fields = append(response.fields, Field{"WARC-Truncated", "length"})
	}
	response.head, response.payload = responseHead(f), f.GetBody()

	request.fields = append([]Field{{"WARC-Type", "request"}, {"WARC-Record-ID", recordID(f, "request")}}, common...)
	request.fields = append(request.fields, Field{"Content-Type", "application/http;msgtype=request"},
		Field{"WARC-Concurrent-To", responseID})
	request.head = requestHead(f, target)
	return response, request
}

// finish adds the fields that depend on the block and returns the record's
// header.
func (r *record) finish() []byte {
	fields := append(slices.Clip(r.fields), Field{"WARC-Block-Digest", digest(r.head, r.payload)},
		Field{"Content-Length", strconv.Itoa(len(r.head) + len(r.payload))})
	return appendFields([]byte("WARC/1.1\r\n"), fields)
}

// appendFields writes fields and the empty line after them.
func appendFields(b []byte, fields []Field) []byte {
	for _, f := range fields {
		b = appendField(b, f.Name, f.Value)
	}
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
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}

// digest is the labelled SHA-1 in base 32, which all readers know.
func digest(parts ...[]byte) string {
	h := sha1.New()
	for _, p := range parts {
		h.Write(p)
	}
	return "sha1:" + base32.StdEncoding.EncodeToString(h.Sum(nil))
}

// recordID is a version 5 UUID (RFC 9562 section 5.5) of exchange and type.
func recordID(f *weftpb.Fetched, kind string) string {
	name := f.GetId() + "\x00" + strconv.FormatInt(f.GetOutcome().GetStartedMs(), 10) + "\x00" + kind
	return "<urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String() + ">"
}

// responseHead is the status line and the headers of a response whose body is stored
// decoded. They are as they came, if that is known, except for the fields about codings
// and length.
func responseHead(f *weftpb.Fetched) []byte {
	if head := f.GetResponseHead(); len(head) > 0 {
		return decodedHead(head, len(f.GetBody()))
	}
	status := int(f.GetOutcome().GetStatus())
	b := append([]byte(nil), "HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+"\r\n"...)
	length := strconv.Itoa(len(f.GetBody()))
	for _, h := range f.GetHeaders() {
		name := h.GetName()
		switch {
		case strings.EqualFold(name, "Content-Encoding"), strings.EqualFold(name, "Transfer-Encoding"),
			strings.EqualFold(name, "Content-Length") && h.GetValue() != length:
			name = renamed + name
		case strings.EqualFold(name, "Content-Length"):
			continue
		}
		b = appendField(b, name, h.GetValue())
	}
	b = appendField(b, "Content-Length", length)
	return append(b, '\r', '\n')
}

// renamed is the prefix of fields that are not true of the stored body.
const renamed = "X-Weft-Orig-"

// decodedHead is the head of a response as it came, except that fields that are not true
// of its decoded body are renamed; then a Content-Length is added.
func decodedHead(head []byte, bodyBytes int) []byte {
	length := strconv.Itoa(bodyBytes)
	b := make([]byte, 0, len(head)+64)
	stated, changed := false, false
	for line := range bytes.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), ":")
		switch {
		case name == "" && changed && !stated: // the end
			b = append(append(b, "Content-Length: "+length...), line...)
		case strings.EqualFold(name, "Content-Length") && strings.Trim(value, " \t") == length:
			stated = true
		case strings.EqualFold(name, "Content-Length"), strings.EqualFold(name, "Content-Encoding"), strings.EqualFold(name, "Transfer-Encoding"):
			b, changed = append(b, renamed...), true
		}
		b = append(b, line...)
	}
	return b
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
