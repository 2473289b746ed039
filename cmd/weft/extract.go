package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/parse/document"
	"github.com/weftcrawl/weft/processors/parse/fields"
	"github.com/weftcrawl/weft/topics"
)

type extractCmd struct {
	Page         string    `arg:"" name:"page" help:"URL of the page, or a file with its HTML; -: standard input."`
	Rules        ruleFiles `required:"" placeholder:"PATH" help:"YAML file of rules, or a folder with such files."`
	URL          string    `name:"url" placeholder:"URL" help:"URL of a page that comes from a file. It decides which rule is used."`
	AllowPrivate bool      `help:"Permit addresses that are not public, such as 127.0.0.1."`
}

func (c *extractCmd) Run(ctx context.Context, std streams) error {
	rules, err := settings.FieldRules(topics.Definition{Rules: c.Rules})
	if err != nil {
		return usagef("--rules: %w", err)
	}
	in, err := c.input(ctx, std.in)
	if err != nil {
		return err
	}
	source, refusal := urls.Parse(in.URL)
	if refusal != urls.Accepted {
		return usagef("%s is not a URL of a crawl: %s", in.URL, refusal)
	}
	rule := rules.For(source.String())
	if rule == nil {
		return fmt.Errorf("no rule is for %s; --url names another URL", source)
	}
	parser, err := document.New(document.DefaultOptions())
	if err != nil {
		return err
	}
	page := parser.Document(in)
	tree, why := parser.Tree(in, page)
	if tree == nil {
		return fmt.Errorf("%s has no fields: %s", c.Page, cmp.Or(why, page.Unparsed, "it is "+page.MediaType))
	}
	form, err := urls.NewForm(urls.Options{Strip: urls.DefaultStrip()})
	if err != nil {
		return err
	}
	base := form.Document(source, page.Base, page.Charset)
	taken := rule.Apply(tree.Nodes[0], func(ref string) (string, bool) {
		u, refusal := base.Resolve(ref)
		return u.String(), refusal == urls.Accepted
	}, true)
	return show(std.out, rule.Name, taken)
}

// show prints what matched, what is wrong, and the fields.
func show(w io.Writer, rule string, taken fields.Result) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "rule %s\n", rule)
	for _, m := range taken.Matches {
		fmt.Fprintf(&out, "%s: %s matches %d", m.Field, m.Selector, m.Nodes)
		if m.First != "" {
			fmt.Fprintf(&out, ", first %s", m.First)
		}
		out.WriteByte('\n')
	}
	for _, e := range taken.Errors {
		fmt.Fprintf(&out, "wrong: %s %s", cmp.Or(e.Path, "the page"), e.Outcome)
		if e.Value != "" {
			fmt.Fprintf(&out, ": %q", e.Value)
		}
		out.WriteByte('\n')
	}
	if err := json.Indent(&out, taken.JSON, "", "  "); err != nil {
		return fmt.Errorf("print fields: %w", err)
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// input reads the page.
func (c *extractCmd) input(ctx context.Context, stdin io.Reader) (document.Input, error) {
	in := document.Input{URL: c.URL}
	var err error
	switch {
	case strings.HasPrefix(c.Page, "http://"), strings.HasPrefix(c.Page, "https://"):
		return c.fetch(ctx)
	case c.Page == "-":
		in.Body, err = io.ReadAll(stdin)
	default:
		in.Body, err = os.ReadFile(c.Page)
		in.ContentType = mime.TypeByExtension(filepath.Ext(c.Page))
	}
	if in.URL == "" {
		in.URL = "http://localhost/"
	}
	in.ContentType = cmp.Or(in.ContentType, "text/html")
	return in, err
}

// fetch makes one request.
func (c *extractCmd) fetch(ctx context.Context) (document.Input, error) {
	source, refusal := urls.Parse(c.Page)
	if refusal != urls.Accepted {
		return document.Input{}, usagef("%s is not a URL of a crawl: %s", c.Page, refusal)
	}
	options := httpclient.DefaultOptions()
	options.AllowPrivate = c.AllowPrivate
	client, err := httpclient.New(options)
	if err != nil {
		return document.Input{}, err
	}
	defer client.Close()
	x := client.Do(ctx, httpclient.Request{URL: source.String()})
	switch {
	case x.Error != "":
		return document.Input{}, errors.New(x.Error)
	case x.Location != "":
		return document.Input{}, fmt.Errorf("%s redirects to %s", source, x.Location)
	case x.Status < 200 || x.Status > 299:
		return document.Input{}, fmt.Errorf("%s has the status %d", source, x.Status)
	}
	in := document.Input{URL: cmp.Or(c.URL, source.String()), Body: x.Body, Truncated: x.Truncated}
	for _, h := range x.Headers {
		if strings.EqualFold(h.Name, "Content-Type") {
			in.ContentType = h.Value
		}
	}
	return in, nil
}
