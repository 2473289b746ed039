package why

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/politeness"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
)

// Delay is the time between two requests to a domain, and where it comes from.
type Delay struct {
	MS int64 `json:"ms"`
	// Cause is the largest part: configured, setting, crawl_delay or response_time.
	Cause string `json:"cause"`
	// The parts: the delay of the definition or of the domain's setting, the longest Crawl-delay of an origin with
	// rules in force, and the time of the last response.
	ConfiguredMS int64  `json:"configured_ms"`
	CrawlDelayMS int64  `json:"crawl_delay_ms,omitempty"`
	Origin       string `json:"crawl_delay_origin,omitempty"`
	ResponseMS   int64  `json:"response_ms,omitempty"`
}

func delayOf(opts frontier.Options, setting *weftpb.DomainSetting, response time.Duration, origins []frontier.OriginState) Delay {
	configured := "configured"
	if setting != nil && setting.DelayMs != nil {
		opts.Delay, configured = ms(*setting.DelayMs), "setting"
	}
	d := Delay{ConfiguredMS: opts.Delay.Milliseconds(), ResponseMS: response.Milliseconds()}
	for _, o := range origins {
		if ms := o.CrawlDelay.Milliseconds(); o.Standing == frontier.InForce && ms > d.CrawlDelayMS {
			d.CrawlDelayMS, d.Origin = ms, o.Name
		}
	}
	crawlDelay := ms(d.CrawlDelayMS)
	delay := politeness.Delay(opts.Delay, crawlDelay, opts.ResponseFactor, response)
	d.MS = delay.Milliseconds()
	switch delay {
	case opts.Delay:
		d.Cause = configured
	case politeness.Delay(0, crawlDelay, 0, 0):
		d.Cause = "crawl_delay"
	default:
		d.Cause = "response_time"
	}
	return d
}

// reason says where the delay comes from.
func (d Delay) reason() string {
	switch d.Cause {
	case "crawl_delay":
		return "Crawl-delay of " + d.Origin
	case "response_time":
		return "as long as its last response took"
	case "setting":
		return "a setting of the domain"
	}
	return "configured"
}

// text is the delay with all its parts.
func (d Delay) text() string {
	text := fmt.Sprintf("%s, %s", span(ms(d.MS)), d.reason())
	var rest []string
	if d.Cause != "configured" && d.Cause != "setting" {
		rest = append(rest, "configured "+span(ms(d.ConfiguredMS)))
	}
	if d.Cause != "crawl_delay" && d.CrawlDelayMS > 0 {
		rest = append(rest, "Crawl-delay "+span(ms(d.CrawlDelayMS)))
	}
	if d.Cause != "response_time" && d.ResponseMS > 0 {
		rest = append(rest, "last response "+span(ms(d.ResponseMS)))
	}
	if len(rest) > 0 {
		text += " (" + join(rest) + ")"
	}
	return text
}

// atLeast is the minimum time for a domain's pending requests: its delay between each two,
// or the time of its last response if there is no delay.
func (d Delay) atLeast(pending int64, perDomain int) time.Duration {
	pace := ms(d.MS)
	if pace == 0 {
		pace = ms(d.ResponseMS)
	}
	return time.Duration(max(pending-1, 0)) * pace / time.Duration(perDomain)
}
