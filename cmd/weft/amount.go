package main

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// amount is a flag that counts: "86400000", "86_400_000", "86.4M". The letters
// are those of English: k, M, and B, a thousand millions.
type amount int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *amount) UnmarshalText(text []byte) error {
	number, factor := strings.ReplaceAll(string(text), "_", ""), 1.0
	for letter, times := range map[string]float64{"k": 1e3, "M": 1e6, "B": 1e9} {
		if rest, ok := strings.CutSuffix(number, letter); ok {
			number, factor = rest, times
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
