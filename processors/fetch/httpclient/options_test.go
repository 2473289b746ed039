package httpclient

import (
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/mediatype"
	"github.com/weftcrawl/weft/internal/politeness"
)

func TestValidate(t *testing.T) {
	if err := DefaultOptions().Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	for field, change := range map[string]func(*Options){
		"ConnectTimeout":      func(o *Options) { o.ConnectTimeout = 0 },
		"FirstByteTimeout":    func(o *Options) { o.FirstByteTimeout = -1 },
		"TotalTimeout":        func(o *Options) { o.TotalTimeout = 0 },
		"IdleTimeout":         func(o *Options) { o.IdleTimeout = 0 },
		"DNSTTL":              func(o *Options) { o.DNSTTL = 0 },
		"DNSNegativeTTL":      func(o *Options) { o.DNSNegativeTTL = 0 },
		"must be less than":   func(o *Options) { o.DNSNegativeTTL = politeness.ConfirmAfter },
		"DNSMinTTL":           func(o *Options) { o.DNSMinTTL = 0 },
		"DNSMaxTTL":           func(o *Options) { o.DNSMaxTTL = time.Second },
		"DNSNegativeMaxTTL":   func(o *Options) { o.DNSNegativeMaxTTL = time.Second },
		"DNSLookups":          func(o *Options) { o.DNSLookups = 1 },
		"MaxBodyBytes":        func(o *Options) { o.MaxBodyBytes = 0 },
		"FileBytes":           func(o *Options) { o.FileBytes = 0 },
		"MaxHeaderBytes":      func(o *Options) { o.MaxHeaderBytes = 100 },
		"MaxIdleConns":        func(o *Options) { o.MaxIdleConns = -1 },
		"MaxIdleConnsPerHost": func(o *Options) { o.MaxIdleConnsPerHost = 0 },
		"DNSNames":            func(o *Options) { o.DNSNames = 1 },
		"Product":             func(o *Options) { o.Product = "we ft" },
		"Version":             func(o *Options) { o.Version = "1/2" },
		"Contact":             func(o *Options) { o.Contact = "me)\r\nX: y" },
		"UserAgent":           func(o *Options) { o.UserAgent = "a\nb" },
	} {
		o := DefaultOptions()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
		if _, err := New(o); err == nil {
			t.Errorf("%s: New accepts it", field)
		}
	}
}

func TestAgent(t *testing.T) {
	for _, tc := range []struct {
		o    Options
		want string
	}{
		{Options{Product: "weft"}, "weft"},
		{Options{Product: "weft", Version: "1.2"}, "weft/1.2"},
		{Options{Product: "weft", Version: "1.2", Contact: "bot@example.org"}, "weft/1.2 (+bot@example.org)"},
		{Options{Product: "weft", UserAgent: "Mine/1 (x)"}, "Mine/1 (x)"},
	} {
		if got := tc.o.Agent(); got != tc.want {
			t.Errorf("Agent() = %q, want %q", got, tc.want)
		}
	}
}

func TestDocuments(t *testing.T) {
	for contentType, want := range map[string]bool{
		"":                             true,
		"text/html; charset=utf-8":     true,
		"TEXT/Plain":                   true,
		"application/xhtml+xml":        true,
		"application/pdf":              true,
		"application/gzip":             true,
		"application/x-gzip":           true,
		"application/octet-stream":     true,
		"application/rss+xml":          true,
		"nonsense":                     true,
		"image/png":                    false,
		"text/html, image/png":         false,
		"image/png, text/html":         true,
		" Video/MP4 ; codecs=x":        false,
		"audio/mpeg":                   false,
		"font/woff2":                   false,
		"application/epub+zip":         true,
		"application/zip":              false,
		"Application/X-ISO9660-Image":  false,
		"application/x-rar-compressed": false,
	} {
		if got := Documents(mediatype.Of(contentType).Essence); got != want {
			t.Errorf("Documents(%q) = %v", contentType, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const date = "Fri, 02 Jan 2026 03:04:05 GMT"
	for _, tc := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0},
		{"0", "", 0},
		{"120", "", 2 * time.Minute},
		{" 120 ", "", 2 * time.Minute},
		{"86400", "", 24 * time.Hour},
		{"86401", "", 24 * time.Hour},
		{"99999999999999999999999", "", 24 * time.Hour},
		{"-5", "", 0},
		{"1.5", "", 0},
		{"soon", "", 0},
		{"Fri, 02 Jan 2026 03:04:35 GMT", "", 30 * time.Second},
		{"Friday, 02-Jan-26 03:04:35 GMT", "", 30 * time.Second},
		{"Fri Jan  2 03:04:35 2026", "", 30 * time.Second},
		{"Fri, 02 Jan 2026 03:00:00 GMT", "", 0},
		{"Fri, 01 Jan 2100 00:00:00 GMT", "", 24 * time.Hour},
		// The server's clock is an hour behind.
		{"Fri, 02 Jan 2026 02:04:35 GMT", "Fri, 02 Jan 2026 02:04:05 GMT", 30 * time.Second},
		{"Fri, 02 Jan 2026 03:04:35 GMT", "garbage", 30 * time.Second},
		{"Fri, 02 Jan 2026 03:04:35 GMT", date, 30 * time.Second},
	} {
		if got := retryAfter(tc.value, tc.date, now); got != tc.want {
			t.Errorf("retryAfter(%q, %q) = %v, want %v", tc.value, tc.date, got, tc.want)
		}
	}
}
