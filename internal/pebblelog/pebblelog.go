// Package pebblelog is what Pebble stores have in common: their logger, since their errors come back
// from calls and events, and how a new one begins.
package pebblelog

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// Logger drops what Pebble logs, because errors come back from a call or through
// an event, with one exception: Pebble calls Fatalf when it cannot write its
// MANIFEST, mostly because the disk is full. The function gets that error and must
// break the store. After Fatalf returns, the call fails, or the flush or compaction
// in the background.
type Logger func(error)

var _ pebble.Logger = Logger(nil)

// Infof drops the line.
func (Logger) Infof(string, ...any) {}

// Errorf drops the line.
func (Logger) Errorf(string, ...any) {}

// Fatalf passes the error of a MANIFEST on. It panics at anything else: that would
// be a mistake in a program.
func (l Logger) Fatalf(format string, args ...any) {
	said := fmt.Sprintf(format, args...)
	if !strings.HasPrefix(said, "MANIFEST ") || !strings.Contains(said, " failed: ") {
		panic("pebble: " + said)
	}
	l(errors.New(said))
}
