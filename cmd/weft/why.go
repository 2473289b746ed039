package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/why"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/topics"
)

type whyCmd struct {
	reachFlags
	About *string `arg:"" optional:"" name:"url|domain" help:"A URL with its scheme, or a domain, a host or an address. Without it the command explains the crawl."`
	JSON  bool    `name:"json" help:"Print JSON."`
}

func (c *whyCmd) Run(ctx context.Context, std streams) error {
	about, host := "", ""
	if c.About != nil {
		about = *c.About
	}
	isURL := strings.Contains(about, "://")
	if c.About != nil && !isURL {
		var err error
		if host, err = hostOf(about); err != nil {
			return err
		}
	}
	asker, end, err := c.asker(ctx, std)
	if err != nil {
		return err
	}
	defer end()
	var answer interface{ WriteText(to io.Writer) error }
	switch now := time.Now(); {
	case c.About == nil:
		answer, err = asker.Crawl(ctx, now, time.Local)
	case isURL:
		answer, err = asker.URL(ctx, about, now, time.Local)
	default:
		answer, err = asker.Domain(ctx, about, host, now, time.Local)
	}
	if err != nil {
		return err
	}
	if !c.JSON {
		return answer.WriteText(std.out)
	}
	return printJSON(std.out, answer)
}

// asker opens the crawl for questions. The caller calls end.
func (f *reachFlags) asker(ctx context.Context, std streams) (a *why.Asker, end func(), err error) {
	open, err := f.open(ctx, std, crawl.ToRead, topics.Loop(f.Crawl).Config)
	if err != nil {
		return nil, nil, err
	}
	a, err = why.New(ctx, why.Options{Damaged: reportDamage(std), Names: open.names, Client: open.client(), Dir: open.dir})
	if err != nil {
		open.close()
		return nil, nil, err
	}
	return a, func() { a.Close(); open.close() }, nil
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// printLines prints items as JSON, one a line. An error says what could not be written.
func printLines[T any](out io.Writer, what string, items []T) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, item := range items {
		if err := encoder.Encode(item); err != nil {
			return fmt.Errorf("write %s: %w", what, err)
		}
	}
	return nil
}

// hostOf is the canonical name of a domain, a host, an address, or one of these
// with a port.
func hostOf(about string) (string, error) {
	name := about
	if strings.Count(name, ":") > 1 && !strings.HasPrefix(name, "[") {
		name = "[" + name + "]" // an IPv6 address
	}
	u, refusal := urls.Parse("http://" + name)
	switch {
	case strings.Contains(about, "://"):
		return "", usagef("%q is a URL, and not a domain", about)
	case refusal != urls.Accepted:
		return "", usagef("%q is neither a URL nor a domain, a host or an address", about)
	case u.PathAndQuery() != "/" || strings.ContainsAny(about, "/?#@"):
		return "", usagef("%q is not a domain; a URL begins with its scheme: %s", about, fmt.Sprintf("https://%s", about))
	}
	return u.Hostname(), nil
}
