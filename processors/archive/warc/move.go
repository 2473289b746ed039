package warc

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Response returns a revisit as a response with the payload that it refers to. It keeps its id.
func (r Record) Response(payload []byte) Record {
	r.Block = slices.Concat(r.Block, payload)
	r.fields = without(r.fields, refersFields...)
	for i := range r.fields {
		if r.fields[i].Name == "WARC-Type" {
			r.fields[i].Value = "response"
		}
	}
	return r
}

// Referring returns a revisit that refers to another response; the zero record: to nothing.
func (r Record) Referring(to Record) Record {
	if len(to.fields) == 0 {
		r.fields = append(without(r.fields, refersFields...), Field{"WARC-Profile", samePayload})
		return r
	}
	r.fields = append(without(r.fields, refersFields...),
		Field{"WARC-Profile", samePayload}, Field{"WARC-Refers-To", to.Field("WARC-Record-ID")},
		Field{"WARC-Refers-To-Target-URI", to.Field("WARC-Target-URI")}, Field{"WARC-Refers-To-Date", to.Field("WARC-Date")})
	return r
}

var refersFields = []string{"WARC-Profile", "WARC-Refers-To", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date"}

// without returns a copy of fields without some of them.
func without(fields []Field, names ...string) []Field {
	return slices.DeleteFunc(slices.Clone(fields), func(f Field) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, f.Name) })
	})
}

// Pack returns a member of a record that was read and changed.
func Pack(file string, r Record) ([]byte, error) {
	p, err := NewPacker(Options{Compression: compressionOf(file)})
	if err != nil {
		return nil, err
	}
	head, payload := r.Message()
	member, err := p.member(&record{
		fields: without(r.fields, "WARC-Block-Digest", "Content-Length"), head: head, payload: payload, coded: headerOf(head, "Content-Encoding") != "",
	})
	if err != nil {
		return nil, fmt.Errorf("pack a record of %s: %w", file, err)
	}
	return member, nil
}

// MediaType is the type in the Content-Type of a response, as it is in indexes; empty: there is none.
func (r Record) MediaType() string {
	head, _ := r.Message()
	return essence(headerOf(head, "Content-Type"))
}

// essence is a media type without its parameters.
func essence(contentType string) string {
	essence, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(essence))
}

// headerOf is the value of a field in the head of a message; empty: there is none.
func headerOf(head []byte, name string) string {
	for line := range strings.Lines(string(head)) {
		if key, value, ok := strings.Cut(line, ":"); ok && http.CanonicalHeaderKey(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
