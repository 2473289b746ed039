package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	samples    = 3   // texts of each language
	mostSample = 420 // letters
)

// sample prints a few paragraphs of each language for the test of package language.
func sample(folder string) error {
	found := map[string][]string{}
	all, err := translated(folder, test[:1])
	if err != nil {
		return err
	}
	for _, t := range all {
		for line := range strings.Lines(t.body) {
			line = strings.TrimSpace(line)
			if n := lettersOf(line); n >= pageLetters && n < mostSample {
				found[t.language] = append(found[t.language], line)
				break
			}
		}
	}
	fmt.Print("# Paragraphs of gnome-user-docs (GNOME Help, https://help.gnome.org), by its documentation project and\n" +
		"# translators, under CC BY-SA 3.0. A line is a language and a text. bench/languages sample makes it.\n")
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all := found[name]
		for i := range min(samples, len(all)) {
			fmt.Printf("%s\t%s\n", name, all[(2*i+1)*len(all)/(2*min(samples, len(all)))])
		}
	}
	return nil
}
