package check

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// problems collects what is wrong.
type problems []error

func (p *problems) addf(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

// Flags reads the names of weft's flags from the example of its configuration,
// which names them all (a test of cmd/weft sees to that).
func Flags(files fs.FS) (map[string]bool, error) {
	text, err := fs.ReadFile(files, "docs/weft.example.yaml")
	if err != nil {
		return nil, err
	}
	flags := map[string]bool{"config": true}
	for _, match := range regexp.MustCompile(`(?m)^(?:# )?([a-z][a-z-]*):`).FindAllSubmatch(text, -1) {
		flags[string(match[1])] = true
	}
	if len(flags) < 30 {
		return nil, fmt.Errorf("only %d flags in docs/weft.example.yaml: the search is wrong", len(flags))
	}
	return flags, nil
}

// variables are right as the environment of weft: those that begin with WEFT_
// are flags, and the others mean something to Go or to the AWS SDK.
func (p *problems) variables(where string, flags map[string]bool, names []string) {
	slices.Sort(names)
	for _, name := range names {
		flag, ours := strings.CutPrefix(name, "WEFT_")
		flag = strings.ToLower(strings.ReplaceAll(flag, "_", "-"))
		switch {
		case ours && !flags[flag]:
			p.addf("%s sets %s: weft has no flag --%s", where, name, flag)
		case !ours && !slices.Contains([]string{"GOMEMLIMIT", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}, name):
			p.addf("%s sets %s, which nothing reads", where, name)
		}
	}
}

// pinned images name a version: what runs tomorrow is what ran today.
func (p *problems) pinned(where, image string) {
	_, after, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if after == "" || after == "latest" {
		p.addf("%s: image %q is not pinned by a tag", where, image)
	}
}

// keys of a map, for tests and messages.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// joined is nil when nothing is wrong.
func (p problems) joined() error { return errors.Join(p...) }
