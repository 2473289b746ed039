package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/weftcrawl/weft/topics"
)

// ruleFiles is a flag: the rules in a file, or in the YAML files of a folder. They become part of
// the definition of a crawl, so that all its processes have the same.
type ruleFiles []topics.RuleFile

// noRules ends the rules of a crawl.
const noRules = "none"

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *ruleFiles) UnmarshalText(text []byte) error {
	*r = ruleFiles{}
	name := string(text)
	if name == noRules {
		return nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	files := []string{name}
	if info.IsDir() {
		files = nil
		for _, pattern := range []string{"*.yaml", "*.yml"} {
			found, err := fs.Glob(os.DirFS(name), pattern)
			if err != nil {
				return fmt.Errorf("rules in %s: %w", name, err)
			}
			for _, file := range found {
				files = append(files, filepath.Join(name, file))
			}
		}
		slices.Sort(files)
		if len(files) == 0 {
			return fmt.Errorf("rules: folder %s has no file *.yaml or *.yml", name)
		}
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("rules: %w", err)
		}
		*r = append(*r, topics.RuleFile{Name: filepath.Base(file), Text: string(content)})
	}
	return nil
}
