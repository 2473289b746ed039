package topics

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Setting is what people ask for one registrable domain. It holds in all processes and
// across restarts. It is a record of config with the key "domain NAME"; the last one of a
// domain is in force. Like a control, its value is the definition in force with one more
// field.
type Setting struct {
	Domain string `json:"domain"`
	// DelayMS is the time between two requests, milliseconds; nil: the crawl's delay. A
	// longer Crawl-delay of robots.txt still holds.
	DelayMS *int64 `json:"delay_ms,omitempty"`
	// PerDay is the largest number of requests a day (UTC); 0: the crawl's limit.
	PerDay int64 `json:"per_day,omitempty"`
	// Priority of the domain among the others: HighPriority or LowPriority; empty: the
	// priority of its URLs.
	Priority string `json:"priority,omitempty"`
	// Blocked: the crawl makes no request to the domain, for this Reason. Its URLs stay
	// queued.
	Blocked bool   `json:"blocked,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// SetAt is when people wrote the setting. A setting that does not block ends an
	// automatic block that began before.
	SetAt time.Time `json:"set_at"`
}

// Priorities of a domain.
const (
	HighPriority = "high"
	LowPriority  = "low"
)

// MaxReason is the longest reason of a block, in bytes.
const MaxReason = 500

// Validate reports the first field with which a scheduler cannot work.
func (s Setting) Validate() error {
	switch {
	case s.Domain == "" || strings.ContainsAny(s.Domain, " \x00"):
		return fmt.Errorf("%q is not a domain", s.Domain)
	case s.DelayMS != nil && (*s.DelayMS < 0 || *s.DelayMS > time.Hour.Milliseconds()):
		return fmt.Errorf("a delay of %d ms is not between 0 and 1h", *s.DelayMS)
	case s.PerDay < 0:
		return fmt.Errorf("%d requests a day are negative", s.PerDay)
	case s.Priority != "" && s.Priority != HighPriority && s.Priority != LowPriority:
		return fmt.Errorf("%q is not a priority: %s or %s", s.Priority, HighPriority, LowPriority)
	case len(s.Reason) > MaxReason:
		return fmt.Errorf("the reason has more than %d bytes", MaxReason)
	}
	return nil
}

// settingKey begins the keys of settings in config.
const settingKey = "domain "

func decodeSetting(key string, value []byte) (Setting, error) {
	var r struct{ Setting *Setting }
	if err := json.Unmarshal(value, &r); err != nil {
		return Setting{}, fmt.Errorf("decode setting of a domain: %w", err)
	}
	switch {
	case r.Setting == nil:
		return Setting{}, errors.New("decode setting of a domain: the record holds no setting")
	case settingKey+r.Setting.Domain != key:
		return Setting{}, fmt.Errorf("decode setting of a domain: key %q is the key of another domain", key)
	}
	return *r.Setting, r.Setting.Validate()
}

// SettingOf returns the domain of a setting, by the key of its record in config. ok is false
// if the record is not a setting.
func SettingOf(key []byte) (domain string, ok bool) {
	return strings.CutPrefix(string(key), settingKey)
}

// WriteSetting appends a new setting of a domain, and returns it. change makes the new
// setting of the setting in force.
func WriteSetting(ctx context.Context, n Names, domain string, change func(Setting) Setting, client ...kgo.Opt) (Setting, error) {
	h, err := readHistory(ctx, n, client)
	if err != nil {
		return Setting{}, err
	}
	s := change(cmp.Or(h.settings[domain], Setting{Domain: domain}))
	if err := s.Validate(); err != nil {
		return Setting{}, err
	}
	return s, appendConfig(ctx, []byte(settingKey+domain), h.last, record{Setting: &s}, client)
}
