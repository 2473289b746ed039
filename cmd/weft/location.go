package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// location of a store that processes elsewhere are told, so that a folder is an
// absolute path; see store.Open.
type location string

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *location) UnmarshalText(text []byte) error {
	*l = location(text)
	if len(text) == 0 || strings.Contains(string(text), "://") {
		return nil
	}
	path, err := filepath.Abs(string(text))
	if err != nil {
		return fmt.Errorf("find folder %s: %w", text, err)
	}
	*l = location(path)
	return nil
}
