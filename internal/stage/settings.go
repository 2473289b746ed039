package stage

import (
	"maps"
	"slices"
	"sync"

	"github.com/weftcrawl/weft/topics"
)

// Settings are what people ask for single domains, as this process knows it. Nil has none.
// Settings are safe for concurrent use.
type Settings struct {
	mu       sync.Mutex
	byDomain map[string]topics.Setting
	// written has the domains in the order in which their settings came.
	written []string
}

// NewSettings returns the settings of a process that begins.
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

// Of returns the setting of a domain; without one it has only the name.
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

// Since returns the domains whose settings came after the first n, and n for the next call.
func (s *Settings) Since(n int) (domains []string, next int) {
	if s == nil {
		return nil, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written[n:len(s.written):len(s.written)], len(s.written)
}
