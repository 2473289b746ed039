package main

import (
	"errors"
	"strconv"
	"strings"
)

// byteSize is a flag in bytes: "1048576", "1MiB", "512KiB".
type byteSize int64

// byteUnits by their names, the longest first.
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
