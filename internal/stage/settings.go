package stage

import (
	"maps"
	"slices"
	"sync"

	"github.com/weftcrawl/weft/topics"
)

// Settings are the settings of domains that this process has read. A nil Settings has no
// settings. Settings are safe for concurrent use.
type Settings struct {
	mu       sync.Mutex
	byDomain map[string]topics.Setting
	// written lists the domains in the order in which their settings were read.
	written []string
}

// NewSettings returns the settings with which a process begins.
func NewSettings(byDomain map[string]topics.Setting) *Settings {
	s := &Settings{byDomain: map[string]topics.Setting{}}
	for _, domain := range slices.Sorted(maps.Keys(byDomain)) { // runs of the simulation are repeatable
		s.Set(byDomain[domain])
	}
	return s
}

// Set changes the setting of a domain.
func (s *Settings) Set(setting topics.Setting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byDomain[setting.Domain] = setting
	s.written = append(s.written, setting.Domain)
}

// Of returns the setting of a domain. If there is no setting, only its Domain is set.
func (s *Settings) Of(domain string) topics.Setting {
	if s == nil {
		return topics.Setting{Domain: domain}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if setting, ok := s.byDomain[domain]; ok {
		return setting
	}
	return topics.Setting{Domain: domain}
}

// Since returns the domains of the settings that were read after the first n, and the n of the
// next call.
func (s *Settings) Since(n int) (domains []string, next int) {
	if s == nil {
		return nil, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written[n:len(s.written):len(s.written)], len(s.written)
}
