package reparse

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/settings"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/processors/parse"
	"github.com/weftcrawl/weft/topics"
)

// Outcome is what became of a response of the archive.
type Outcome string

// Outcomes.
const (
	// Page: there is a line for it.
	Page Outcome = "page"
	// NoPage: parse makes no page of it, for example of a redirect, an error, a sitemap or a
	// robots.txt.
	NoPage Outcome = "no_page"
	// Foreign: the record does not have the facts that parse needs. Another program wrote it, or an
	// earlier version.
	Foreign Outcome = "foreign"
	// NoPayload: the record refers to a payload that is not in its file.
	NoPayload Outcome = "no_payload"
	// Unreadable: the record or its body cannot be decoded.
	Unreadable Outcome = "unreadable"
	// Refused: parse refuses the record, for example because its URL is not valid.
	Refused Outcome = "refused"
	// Failed: parse panicked, which is a defect of Weft.
	Failed Outcome = "panic"
)

// parser parses responses as the stage does. It is safe for concurrent use.
type parser struct {
	names     topics.Names
	transform stage.Transform
	responses *httpclient.Restorer
}

// newParser returns a parser for a crawl.
func newParser(d topics.Definition, responses *httpclient.Restorer) (*parser, error) {
	names := topics.Loop(d.Crawl)
	transform, err := parse.New(stage.Env{Names: names, Definition: d, Meter: stage.NoMeter{}})
	return &parser{names: names, transform: transform, responses: responses}, err
}

// page returns the page of a response.
func (p *parser) page(ctx context.Context, k kept, s *seat) (one page, outcome Outcome, err error) {
	r, outcome, err := p.fetched(ctx, k.record, k.payload, s)
	if outcome != "" {
		return page{}, outcome, err
	}
	line, outcome, err := p.parse(r)
	return page{
		line: line, fetched: r.Value, response: k.record, offset: k.offset, length: k.length, gzip: k.gzip, payload: int64(len(k.payload)),
	}, outcome, err
}

// fetched returns the record of fetched that a response came from, with what parse needs of it. If
// it cannot be parsed, the outcome says why.
func (p *parser) fetched(ctx context.Context, record warc.Record, payload []byte, s *seat) (r *kgo.Record, outcome Outcome, err error) {
	facts, ok := record.Facts()
	if !ok {
		return nil, Foreign, errors.New("the record has no Weft-Exchange")
	}
	if facts.Aside {
		return nil, NoPage, nil
	}
	target := record.Field("WARC-Target-URI")
	date, err := record.Date()
	if err != nil {
		return nil, Unreadable, err
	}
	head, _ := record.Message()
	x, err := p.restore(ctx, target, head, payload, s)
	if err != nil {
		return nil, Unreadable, err
	}
	defer x.Release()
	if x.Class != httpclient.ClassNone && facts.ErrorClass == "" {
		return nil, Unreadable, fmt.Errorf("%s: %s", x.Class, x.Error)
	}
	f := x.Fetched()
	f.Id = facts.ID
	f.Outcome.StartedMs, f.Outcome.Truncated, f.Outcome.ErrorClass = date.UnixMilli(), facts.Truncated, facts.ErrorClass
	f.Request = &weftpb.Request{Target: &weftpb.Target{Url: target, Depth: facts.Depth}, Usage: facts.Usage}
	if facts.Sitemap {
		f.Request.Target.Sitemap = &weftpb.Sitemap{Level: 1, Guessed: facts.Guessed, OutOfScope: facts.OutOfScope, Root: facts.Root}
	}
	return &kgo.Record{
		Topic: p.names.Fetched, Partition: facts.Archived.Partition, Offset: facts.Archived.Offset,
		Key: []byte(urls.DomainOf(target)), Value: stage.Encode(f),
	}, "", nil
}

// restore returns the exchange of a response when there is room for its body. How large the body is
// shows only when it is decoded. If there is no room, the body is dropped and decoded again later, so
// that responses that wait have only their payloads in memory.
func (p *parser) restore(ctx context.Context, target string, head, payload []byte, s *seat) (*httpclient.Exchange, error) {
	x := p.responses.Restore(ctx, httpclient.Request{URL: target}, head, payload)
	if s.tryGrow(len(x.Body)) {
		return x, nil
	}
	size := len(x.Body)
	x.Release()
	if err := s.grow(ctx, size); err != nil {
		return nil, err
	}
	return p.responses.Restore(ctx, httpclient.Request{URL: target}, head, payload), nil
}

// parse gives a record of fetched to the function of the stage.
func (p *parser) parse(r *kgo.Record) (line []byte, outcome Outcome, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			line, outcome, err = nil, Failed, fmt.Errorf("parse panicked: %v", cause)
		}
	}()
	out, reason := p.transform(r)
	switch {
	case reason == stage.ReasonPanic:
		return nil, Failed, errors.New("parse failed")
	case reason != "":
		return nil, Refused, errors.New(reason)
	}
	for _, one := range out {
		if one.Topic == p.names.Parsed {
			return one.Value, Page, nil
		}
	}
	return nil, NoPage, nil
}

// newRestorer bounds decoded bodies by the largest one that a crawl may fetch.
func newRestorer() *httpclient.Restorer {
	return httpclient.NewRestorer(httpclient.AllBodies(settings.MaxBody))
}
