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
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/weftcrawl/weft/internal/robots"
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

// maxRobotsRedirects is how many redirects of a robots.txt are followed (RFC 9309 section 2.3.1.2).
const maxRobotsRedirects = 5

// permitted asks the robots.txt of an origin about a URL. It returns an error if the robots.txt
// forbids the request, or cannot be read.
func permitted(ctx context.Context, client *httpclient.Client, source urls.URL, agent string) error {
	at := source.Origin() + "/robots.txt"
	x := client.Do(ctx, httpclient.Request{URL: at, Kind: httpclient.KindRobots})
	for range maxRobotsRedirects {
		to, refusal := urls.Parse(x.Location)
		if x.Location == "" || refusal != urls.Accepted {
			break
		}
		x = client.Do(ctx, httpclient.Request{URL: to.String(), Kind: httpclient.KindRobots})
	}
	status := x.Status
	switch {
	case x.Status == 0 && x.Error != "":
		return errors.New(x.Error)
	case x.Location != "":
		status = http.StatusNotFound // there is none
	}
	line, allowed := robots.Compile(robots.Parse(status, x.Body, agent)).Rule(source.PathAndQuery())
	switch {
	case allowed:
		return nil
	case line == "":
		return fmt.Errorf("%s has the status %d, so nothing of this origin may be fetched now", at, status)
	}
	return fmt.Errorf("%s forbids to fetch %s: %s", at, source, line)
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

// fetch asks for the page, if the robots.txt of its origin permits that.
func (c *extractCmd) fetch(ctx context.Context) (document.Input, error) {
	source, refusal := urls.Parse(c.Page)
	if refusal != urls.Accepted {
		return document.Input{}, usagef("%s is not a URL of a crawl: %s", c.Page, refusal)
	}
	options := httpclient.DefaultOptions()
	options.AllowPrivate, options.Version = c.AllowPrivate, version()
	client, err := httpclient.New(options)
	if err != nil {
		return document.Input{}, err
	}
	defer client.Close()
	if err := permitted(ctx, client, source, options.Agent()); err != nil {
		return document.Input{}, err
	}
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
