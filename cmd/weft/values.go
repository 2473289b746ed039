package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// amount is a flag that counts: "86400000", "86_400_000", "86.4M". B is a thousand
// millions.
type amount int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *amount) UnmarshalText(text []byte) error {
	number, factor := strings.ReplaceAll(string(text), "_", ""), 1.0
	for _, unit := range []struct {
		letter string
		times  float64
	}{{"k", 1e3}, {"M", 1e6}, {"B", 1e9}} {
		if rest, ok := strings.CutSuffix(number, unit.letter); ok {
			number, factor = rest, unit.times
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	n = math.Round(n * factor)
	if err != nil || !(n >= 0 && n <= 1e15) {
		return errors.New("an amount is a number, or one with k, M or B for thousands, millions or billions")
	}
	*a = amount(n)
	return nil
}

// byteSize is a flag in bytes: "1048576", "1MiB", "512KiB".
type byteSize int64

// byteUnits has the longest names first.
var byteUnits = []struct {
	name string
	size int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}}

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *byteSize) UnmarshalText(text []byte) error {
	number, factor := string(text), int64(1)
	for _, unit := range byteUnits {
		if rest, ok := strings.CutSuffix(number, unit.name); ok {
			number, factor = strings.TrimSpace(rest), unit.size
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || n > 1<<50/factor {
		return errors.New("a size is a positive number of bytes, or one with KiB, MiB, GiB or TiB")
	}
	*b = byteSize(n * factor)
	return nil
}

// location of a store (see blob.Open). Processes on other machines read it too, so a
// folder becomes an absolute path.
type location string

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *location) UnmarshalText(text []byte) error {
	*l = location(text)
	if len(text) == 0 || string(text) == noArchive || strings.Contains(string(text), "://") {
		return nil
	}
	path, err := filepath.Abs(string(text))
	if err != nil {
		return fmt.Errorf("find folder %s: %w", text, err)
	}
	*l = location(path)
	return nil
}

// archiveLocation is the location of an archive. Of the data directory of a crawl it is the folder
// of its archive.
type archiveLocation location

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *archiveLocation) UnmarshalText(text []byte) error {
	var l location
	err := l.UnmarshalText(text)
	*a = archiveLocation(within(string(l), archiveFolder))
	return err
}

// archiveFolder is the folder of an archive in a data directory.
const archiveFolder = "warc"

// within returns a folder of a data directory if it is there, and else where.
func within(where, folder string) string {
	if inside := filepath.Join(where, folder); isFolder(inside) {
		return inside
	}
	return where
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
