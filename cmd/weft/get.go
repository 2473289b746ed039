package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/weftcrawl/weft/inspect/kept"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/processors/parse/article"
	"github.com/weftcrawl/weft/processors/parse/document"
)

type getCmd struct {
	URL     string  `arg:"" name:"url" help:"URL of the page."`
	At      string  `placeholder:"TIME" help:"The version nearest to this time, such as 2026-11-24 or 2026-11-24T10:00:00Z. Default: the newest with a body."`
	Headers bool    `xor:"what" help:"Print the head of the response as it came."`
	Raw     bool    `xor:"what" help:"Print the body with its content coding."`
	Text    bool    `xor:"what" help:"Print the text of the page."`
	Article *string `xor:"what" enum:"text,markdown" placeholder:"FORM" help:"Print the main text of the page, as text or as markdown."`
	archiveFlags
}

func (c *getCmd) Run(ctx context.Context, std streams) error {
	at, err := c.at()
	if err != nil {
		return err
	}
	bucket, err := c.open(ctx)
	if err != nil {
		return err
	}
	x, err := kept.Find(ctx, bucket, c.target(), at)
	if err != nil {
		return fmt.Errorf("archive in %s: %w", bucket, err)
	}
	out, err := c.part(ctx, x)
	if err == nil {
		_, err = std.out.Write(out)
	}
	return err
}

// target is the URL as the archive has it. People leave out the scheme, and so do the keys of indexes: then a response
// of either scheme is found.
func (c *getCmd) target() string {
	if parsed, refusal := urls.Parse(c.URL); refusal == urls.Accepted {
		return parsed.String()
	}
	if parsed, refusal := urls.Parse("http://" + c.URL); refusal == urls.Accepted && !strings.Contains(c.URL, "://") {
		return strings.TrimPrefix(parsed.String(), "http:")
	}
	return c.URL
}

// at is the time that is asked for; zero: there is none.
func (c *getCmd) at() (time.Time, error) {
	if c.At == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02", "20060102150405"} {
		if t, err := time.Parse(layout, c.At); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("--at %q is not a time such as 2026-11-24T10:00:00Z", c.At)
}

// errNoBody means that nothing can be printed. An empty output would look like an empty page.
var errNoBody = errors.New("the archive has the head of this response, and not its body")

// part is the part of an exchange that is printed.
func (c *getCmd) part(ctx context.Context, x kept.Exchange) ([]byte, error) {
	switch {
	case c.Headers:
		return warc.OriginalHead(x.Head), nil
	case !x.HasBody():
		return nil, fmt.Errorf("%w (%s); --headers prints the head", errNoBody, cmp.Or(x.Facts.ErrorClass, "it was left out"))
	case c.Raw:
		return x.Payload, nil
	}
	body, err := x.Body(ctx)
	if err != nil || !c.Text && c.Article == nil {
		return body, err
	}
	header, err := x.Header()
	if err != nil {
		return nil, err
	}
	parser, err := document.New(document.DefaultOptions())
	if err != nil {
		return nil, err
	}
	in := document.Input{URL: x.URL, ContentType: strings.Join(header["Content-Type"], ", "), Body: body}
	page := parser.Document(in)
	if page.Unparsed != "" {
		return nil, errors.New("there is no text: " + page.Unparsed)
	}
	if c.Article != nil {
		return mainText(parser, in, page, *c.Article == "markdown")
	}
	return []byte(page.Text + "\n"), nil
}

// mainText is the main text of a page, as text or as Markdown.
func mainText(parser *document.Parser, in document.Input, page *document.Page, markdown bool) ([]byte, error) {
	tree, why := parser.Tree(in, page)
	if tree == nil {
		return nil, errors.New("there is no main text: " + cmp.Or(why, "the page is "+page.MediaType))
	}
	at, err := url.Parse(in.URL)
	if err != nil {
		return nil, fmt.Errorf("main text: %w", err)
	}
	if base, err := at.Parse(page.Base); err == nil {
		at = base
	}
	opts := article.DefaultOptions()
	opts.Text, opts.Markdown = !markdown, markdown
	articles, err := article.New(opts, parser)
	if err != nil {
		return nil, err
	}
	found := articles.Read(tree.Nodes[0], at)
	if found.Unread != "" {
		return nil, errors.New("there is no main text: " + found.Unread)
	}
	return []byte(found.Text + found.Markdown + "\n"), nil
}
