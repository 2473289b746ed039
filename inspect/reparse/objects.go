package reparse

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/errgroup"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/processors/archive/warc"
)

// objects puts each page into two objects as soon as it comes:
//
//	DOMAIN/SHA256 OF THE URL/TIME/metadata.json   what is known of the page, its headers, and where its body is
//	bodies/SHA256.html.gz                         a body without its content coding; pages with equal bodies share it
//
// Both are functions of the page, so that a repetition finds them there.
type objects struct {
	to    blob.Bucket
	puts  *errgroup.Group
	ctx   context.Context
	pages int
}

// putsAtOnce is how many pages are on their way to the bucket: a put takes some 30 ms in S3.
const putsAtOnce = 32

func (o *Options) newObjects(ctx context.Context) *objects {
	out := &objects{to: o.Generation}
	out.puts, out.ctx = errgroup.WithContext(ctx)
	out.puts.SetLimit(putsAtOnce)
	return out
}

// add begins to put a page. It waits if putsAtOnce are on their way.
func (out *objects) add(p page, left func()) error {
	out.pages++
	if err := out.ctx.Err(); err != nil {
		return context.Cause(out.ctx)
	}
	out.puts.Go(func() error {
		defer left()
		return out.put(p)
	})
	return nil
}

// objectMetadata is metadata.json.
type objectMetadata struct {
	URL       string    `json:"url"`
	FetchedAt time.Time `json:"fetched_at"`
	Status    int       `json:"status"`
	// Headers are the fields of the response as they came, without those that the archive renamed or added.
	Headers http.Header `json:"headers"`
	// Body is the key of the body, with its size in bytes without compression.
	Body      string                 `json:"body"`
	BodyBytes int                    `json:"body_bytes"`
	Truncated bool                   `json:"truncated,omitempty"`
	Type      string                 `json:"content_type,omitempty"`
	Charset   string                 `json:"charset,omitempty"`
	Title     string                 `json:"title,omitempty"`
	Language  string                 `json:"detected_language,omitempty"`
	Archived  *codecs.ParsedArchived `json:"archived,omitempty"`
}

// put puts the body, and then what names it.
func (out *objects) put(p page) error {
	parsed, err := p.decoded()
	if err != nil {
		return err
	}
	var fetched weftpb.Fetched
	if err := codecs.UnmarshalFetched(p.fetched, &fetched); err != nil {
		return fmt.Errorf("decode an exchange: %w", err)
	}
	body := fetched.GetBody()
	key := fmt.Sprintf("bodies/%x%s", sha256.Sum256(body), bodyExtension(parsed.ContentType))
	text, err := packed(body)
	if err != nil {
		return fmt.Errorf("compress %s: %w", key, err)
	}
	if err := putNew(out.ctx, out.to, key, text); err != nil {
		return err
	}
	folder := fmt.Sprintf("%s/%x/%s/", url.PathEscape(parsed.Domain), sha256.Sum256([]byte(parsed.URL)), parsed.FetchedAt.UTC().Format("20060102T150405.000Z"))
	text, err = json.Marshal(objectMetadata{
		URL: parsed.URL, FetchedAt: parsed.FetchedAt, Status: parsed.Status, Headers: headersOf(p.response), Body: key, BodyBytes: len(body),
		Truncated: parsed.Truncated, Type: parsed.ContentType, Charset: parsed.Charset, Title: parsed.Title, Language: parsed.Detected,
		Archived: parsed.Archived,
	})
	if err != nil {
		return fmt.Errorf("describe %s: %w", parsed.URL, err)
	}
	return putNew(out.ctx, out.to, folder+"metadata.json", text)
}

// headersOf returns the fields of a response as they came.
func headersOf(response warc.Record) http.Header {
	head, _ := response.Message()
	_, fields, _ := strings.Cut(string(warc.OriginalHead(head)), "\n") // without the status line
	headers, last := http.Header{}, ""
	for line := range strings.Lines(fields) {
		name, value, ok := strings.Cut(line, ":")
		switch {
		case last != "" && strings.Trim(line, " \t\r\n") != "" && strings.IndexAny(line, " \t") == 0: // RFC 9112 section 5.2
			values := headers[last]
			values[len(values)-1] += " " + strings.Trim(line, " \t\r\n")
		case ok:
			last = http.CanonicalHeaderKey(name)
			headers[last] = append(headers[last], strings.Trim(value, " \t\r\n"))
		}
	}
	return headers
}

// bodyExtension is the end of the name of a body.
func bodyExtension(contentType string) string {
	if mediatype.IsHTML(contentType) {
		return ".html.gz"
	}
	return ".gz"
}

// putNew puts an object that is a function of its key, unless it is there.
func putNew(ctx context.Context, to blob.Bucket, key string, text []byte) error {
	if err := to.PutNew(ctx, key, bytes.NewReader(text), int64(len(text))); !errors.Is(err, blob.ErrExists) {
		return err
	}
	return nil
}

func packed(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// publish waits for all pages, and says that they are there.
func (out *objects) publish(ctx context.Context, to blob.Bucket, last string) error {
	if err := out.puts.Wait(); err != nil {
		return err
	}
	text := fmt.Appendf(nil, "{\"pages\":%d}", out.pages)
	return to.PutNew(ctx, last, bytes.NewReader(text), int64(len(text)))
}

func (out *objects) close() { _ = out.puts.Wait() }
