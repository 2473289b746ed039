package main

import (
	"errors"
	"fmt"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/topics"
)

// usageError is a mistake on the command line, in the environment, in the
// configuration file, or in what they name: exit code 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func isUsage(err error) bool {
	var usage usageError
	return errors.As(err, &usage) || errors.Is(err, crawl.ErrUsage) || errors.Is(err, topics.ErrPinned) || errors.Is(err, cluster.ErrRefused)
}
