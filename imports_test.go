// Package weft_test holds the rules of the whole repository: which package may
// import which, and who may touch the process around it.
package weft_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/weftcrawl/weft/"

// floor is one floor of the house. Packages import what is on lower floors, and
// on their own floor only what neighbours lists.
type floor struct {
	name string
	// packages are paths, in which * stands for one folder.
	packages []string
}

// house is the plan of the repository, from the ground up. A new package needs a
// place in it.
var house = []floor{
	// What users of a crawl and other programs see.
	{"contract", []string{"topics", "codecs", "codecs/weftpb"}},
	// What every part of a crawler needs.
	{"tools", []string{
		"internal/blob", "internal/bodies", "internal/broker", "internal/dirlock", "internal/httpfield", "internal/kafka", "internal/kv",
		"internal/mediatype", "internal/memory", "internal/pebblelog", "internal/politeness", "internal/robots", "internal/supervise", "internal/trouble",
		"internal/urls",
	}},
	// Event-sourced tables, and reading what they wrote.
	{"ledger", []string{"ledger", "internal/topiclog"}},
	// A package below a stage has what this stage decides or does. Other stages may use its pure
	// rules; see guests.
	{"rooms", []string{"processors/*/*"}},
	// What the stages share.
	{"stage", []string{"internal/settings", "internal/stage"}},
	{"stages", []string{"processors/*"}},
	{"loop", []string{"processors"}},
	// What reads the topics for people.
	{"inspect", []string{"inspect/*", "inspect/verify/accesslog"}},
	{"crawl", []string{"crawl"}},
	{"command", []string{"cmd/weft"}},
	// Servers, fixtures and the simulation. Only tests and benchmarks import them.
	{"test", []string{"test/*"}},
	{"bench", []string{"bench/*"}},
	// Other crawlers that bench/run compares with; a module of its own.
	{"peers", []string{"bench/peers/*"}},
	// What users of a crawl may write: they know its topics and nothing of ours.
	{"examples", []string{"examples/go/*"}},
	// What deploy files are held against; a module of its own.
	{"deploy", []string{"deploy/check"}},
}

// neighbours are the packages of its own floor that a package may import.
var neighbours = map[string][]string{
	"codecs": {"codecs/weftpb"},

	"internal/bodies":    {"internal/blob"},
	"internal/broker":    {"internal/dirlock", "internal/kafka", "internal/supervise"},
	"internal/mediatype": {"internal/httpfield"},
	"internal/memory":    {"internal/supervise"},
	"internal/robots":    {"internal/httpfield", "internal/urls"},
	"internal/topiclog":  {"ledger"},

	"processors/fetch/hostqueue":  {"processors/fetch/slots"},
	"processors/fetch/httpclient": {"processors/fetch/slots"},
	"processors/parse/article":    {"processors/parse/document", "processors/parse/extract"},
	"processors/parse/duplicates": {"processors/parse/simhash"},
	"processors/parse/fields":     {"processors/parse/dates", "processors/parse/document", "processors/parse/extract"},
	"processors/parse/feed":       {"processors/parse/extract", "processors/parse/markup"},
	"processors/parse/image":      {"processors/parse/extract"},
	"processors/parse/office":     {"processors/parse/extract", "processors/parse/markup"},
	"processors/parse/pdf":        {"processors/parse/extract"},
	"processors/parse/sitemap":    {"processors/parse/dates", "processors/parse/markup"},
	"processors/parse/structured": {"processors/parse/dates", "processors/parse/document", "processors/parse/extract"},

	"inspect/difference": {"inspect/scratch"},
	"inspect/erase":      {"inspect/kept", "inspect/scratch", "inspect/table"},
	"inspect/kept":       {"inspect/scratch"},
	"inspect/metrics":    {"inspect/status"},
	"inspect/reparse":    {"inspect/scratch"},
	"inspect/replay":     {"inspect/kept"},
	"inspect/table":      {"inspect/kept", "inspect/scratch"},
	"inspect/wacz":       {"inspect/kept"},
	"inspect/transfer":   {"inspect/status"},
	"inspect/verify":     {"inspect/progress", "inspect/scratch", "inspect/verify/accesslog"},
	"inspect/why":        {"inspect/progress", "inspect/scratch", "inspect/status"},

	"test/kafkaserver":  {"test/child", "test/freeport"},
	"test/s3server":     {"test/child", "test/freeport"},
	"test/securedkafka": {"test/kafkaserver"},
	"test/sim":          {"test/memstore"},
	"test/stagetest":    {"test/memstore"},

	"bench/run": {"bench/localweb", "bench/performance"},
	"bench/web": {"bench/localweb"},
}

// guests are the rooms of other stages that a stage may use: what one stage shows
// of a page, another one decides by.
var guests = map[string][]string{
	"processors/dedupe":    {"processors/normalize/scope"},
	"processors/normalize": {"processors/dedupe/traps"},
	"processors/parse":     {"processors/dedupe/traps", "processors/dedupe/variants"},
}

// alone are floors that import nothing of ours.
var alone = []string{"peers", "examples", "deploy"}

// pure are packages that take time, randomness and state as arguments. A room is
// pure unless it is one of effects.
var pure = []string{"internal/httpfield", "internal/kv", "internal/mediatype", "internal/politeness", "internal/robots", "internal/urls", "inspect/plan"}

var effects = []string{
	"processors/fetch/httpclient", "processors/fetch/hostqueue", "processors/fetch/addresses", "processors/fetch/lease", "processors/fetch/slots",
	"processors/parse/duplicates", "processors/parse/pdf", "processors/archive/jsonl", "processors/archive/warc",
}

// goka, and the sarama under it, may be imported by these packages only.
var knowGoka = []string{"ledger"}

// impure is what pure packages may not import, by prefix.
var impure = []string{
	"os", "net", "syscall", "io/fs", "math/rand", "crypto/rand", "log", "context",
	"github.com/lovoo", "github.com/IBM", "github.com/twmb", "github.com/cockroachdb", "github.com/prometheus",
}

// pureParts of impure packages only compute.
var pureParts = []string{"net/url", "net/netip", "net/http"}

// clock reads or awaits the time.
var clock = []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.Tick", "time.NewTimer", "time.NewTicker", "time.AfterFunc"}

// surroundings are read by commands and benchmarks only, and by two parts of
// tests, which have to know whether they are in CI.
var surroundings = []string{"os.Args", "os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv"}

// source is one Go file that is not a test.
type source struct {
	path, pkg string
	file      *ast.File
	imports   []string
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (name != "." && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s := source{path: filepath.ToSlash(name), pkg: path.Dir(filepath.ToSlash(name)), file: file}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, imported)
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found: the walk is wrong", len(all))
	}
	return all
}

// floorOf returns the number of the floor of a package; -1: it is on none.
func floorOf(pkg string) int {
	return slices.IndexFunc(house, func(f floor) bool {
		return slices.ContainsFunc(f.packages, func(pattern string) bool {
			match, err := path.Match(pattern, pkg)
			return err == nil && match
		})
	})
}

func isRoom(pkg string) bool {
	return strings.Count(pkg, "/") == 2 && strings.HasPrefix(pkg, "processors/")
}

// isTest tells whether a floor is not part of the program.
func isTest(name string) bool { return name == "test" || name == "bench" }

// mayImport says why pkg may not import another package of ours; empty: it may.
func mayImport(pkg, imported string) string {
	from, to := floorOf(pkg), floorOf(imported)
	switch {
	case from < 0 || to < 0:
		return "one of them has no place in the plan of the house"
	case slices.Contains(alone, house[from].name):
		return "packages of this floor import nothing of ours"
	case isTest(house[to].name) && !isTest(house[from].name):
		return "only tests import what is for tests"
	case from < to:
		return "it is on a higher floor"
	case from == to && !slices.Contains(neighbours[pkg], imported):
		return "it is on the same floor and not a listed neighbour"
	case house[from].name == "stages" && isRoom(imported) && path.Dir(imported) != pkg && !slices.Contains(guests[pkg], imported):
		return "it is a room of another stage"
	}
	return ""
}

func TestPackagesImportDownwards(t *testing.T) {
	for _, s := range sources(t) {
		if floorOf(s.pkg) < 0 {
			t.Errorf("%s: package %s has no place in the plan of the house", s.path, s.pkg)
		}
		for _, imported := range s.imports {
			if ours, ok := strings.CutPrefix(imported, module); ok {
				if why := mayImport(s.pkg, ours); why != "" {
					t.Errorf("%s imports %s: %s", s.path, ours, why)
				}
			}
		}
	}
}

// What the plan allows beyond its rules is used, and what it names is there.
func TestPlanHasNoDeadLines(t *testing.T) {
	packages, imports := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		packages[s.pkg] = true
		for _, imported := range s.imports {
			if ours, ok := strings.CutPrefix(imported, module); ok {
				imports[s.pkg+" "+ours] = true
			}
		}
	}
	for _, table := range []map[string][]string{neighbours, guests} {
		for pkg, allowed := range table {
			for _, imported := range allowed {
				if !imports[pkg+" "+imported] {
					t.Errorf("the plan lets %s import %s, and it does not", pkg, imported)
				}
				if slices.Contains(table[imported], pkg) {
					t.Errorf("%s and %s may import each other", pkg, imported)
				}
			}
		}
	}
	for _, f := range house {
		for _, pattern := range f.packages {
			if !strings.Contains(pattern, "*") && !packages[pattern] {
				t.Errorf("the plan has a place for %s, which does not exist", pattern)
			}
		}
	}
	for _, pkg := range slices.Concat(pure, effects, knowGoka) {
		if !packages[pkg] {
			t.Errorf("the plan names %s, which does not exist", pkg)
		}
	}
}

// The folders at the top are few enough to be read at a glance.
func TestTopIsSmall(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var top []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "bin" {
			top = append(top, e.Name())
		}
	}
	if len(top) > 14 {
		t.Errorf("%d folders at the top: %q", len(top), top)
	}
}

func TestPurePackagesArePure(t *testing.T) {
	for _, s := range sources(t) {
		if !slices.Contains(pure, s.pkg) && (!isRoom(s.pkg) || slices.Contains(effects, s.pkg)) {
			continue
		}
		for _, imported := range s.imports {
			if isUnder(imported, impure) && !slices.Contains(pureParts, imported) {
				t.Errorf("%s imports %s", s.path, imported)
			}
		}
		for _, used := range uses(s.file, clock) {
			t.Errorf("%s uses %s: time is an argument", s.path, used)
		}
	}
}

func TestFewPackagesKnowGoka(t *testing.T) {
	for _, s := range sources(t) {
		for _, imported := range s.imports {
			if isUnder(imported, []string{"github.com/lovoo", "github.com/IBM"}) && !slices.Contains(knowGoka, s.pkg) {
				t.Errorf("%s imports %s", s.path, imported)
			}
		}
	}
}

func TestOnlyCommandsReadTheirSurroundings(t *testing.T) {
	for _, s := range sources(t) {
		if s.file.Name.Name == "main" || strings.HasPrefix(s.pkg, "bench/") || s.pkg == "test/kafkaserver" || s.pkg == "test/child" {
			continue
		}
		if slices.Contains(s.imports, "flag") {
			t.Errorf("%s imports flag", s.path)
		}
		for _, used := range uses(s.file, surroundings) {
			t.Errorf("%s uses %s", s.path, used)
		}
	}
}

func isUnder(imported string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		return imported == prefix || strings.HasPrefix(imported, prefix+"/")
	})
}

// uses returns the names ("package.Name") among names that a file mentions.
func uses(file *ast.File, names []string) (used []string) {
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if pkg, ok := selector.X.(*ast.Ident); ok {
				if name := pkg.Name + "." + selector.Sel.Name; slices.Contains(names, name) {
					used = append(used, name)
				}
			}
		}
		return true
	})
	return used
}

// .ci/long finds the long tests by their text: what asks testing.Short below a line
// that begins a test.
func TestOnlyTestsAskWhetherTestsAreShort(t *testing.T) {
	begins := regexp.MustCompile(`^func (Test|Benchmark)\w+\(`)
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || name == "imports_test.go" {
			return err
		}
		text, err := os.ReadFile(name)
		inside := false
		for number, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "func ") {
				inside = strings.HasSuffix(name, "_test.go") && begins.MatchString(line)
			}
			if strings.Contains(line, "testing.Short") && !inside {
				t.Errorf("%s:%d asks testing.Short, and is no test", name, number+1)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
