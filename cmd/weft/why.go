package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weftcrawl/weft/topics"
	"github.com/weftcrawl/weft/urls"
	"github.com/weftcrawl/weft/why"
)

type whyCmd struct {
	reachFlags
	About *string `arg:"" optional:"" name:"url|domain" help:"A URL, with its scheme; or a domain, a host or an address. Without it: the crawl."`
	JSON  bool    `name:"json" help:"Print JSON."`
}

// Run is called by kong.
func (c *whyCmd) Run(ctx context.Context, std streams) error {
	ask, err := c.question()
	if err != nil {
		return err
	}
	local := len(c.Brokers) == 0
	release, err := c.look(ctx, std)
	if err != nil {
		return err
	}
	defer release()
	if err := c.exists(ctx, topics.Loop(c.Crawl).Config); err != nil {
		return err
	}
	opts := why.Options{Damaged: tellDamage(std), Names: topics.Loop(c.Crawl), Client: c.client()}
	if local {
		opts.Dir = c.Data
	}
	asker, err := why.New(ctx, opts)
	if err != nil {
		return err
	}
	defer asker.Close()
	answer, err := ask(ctx, asker)
	if err != nil {
		return err
	}
	if !c.JSON {
		return answer.WriteText(std.out)
	}
	encoder := json.NewEncoder(std.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(answer)
}

// answer is a story of package why.
type answer interface{ WriteText(to io.Writer) error }

type question func(context.Context, *why.Asker) (answer, error)

// question tells a URL from a domain, a host or an address.
func (c *whyCmd) question() (question, error) {
	if c.About == nil {
		return func(ctx context.Context, a *why.Asker) (answer, error) { return a.Crawl(ctx, time.Now(), time.Local) }, nil
	}
	about := *c.About
	if strings.Contains(about, "://") {
		return func(ctx context.Context, a *why.Asker) (answer, error) {
			return a.URL(ctx, about, time.Now(), time.Local)
		}, nil
	}
	host, err := hostOf(about)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, a *why.Asker) (answer, error) {
		return a.Domain(ctx, about, host, time.Now(), time.Local)
	}, nil
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
	case refusal != urls.Accepted:
		return "", usagef("%q is neither a URL nor a domain, a host or an address", about)
	case u.PathAndQuery() != "/" || strings.ContainsAny(about, "/?#@"):
		return "", usagef("%q is no domain; a URL begins with its scheme: %s", about, fmt.Sprintf("https://%s", about))
	}
	return u.Hostname(), nil
}
