// Package weft_test holds the rules of the whole repository: which package may
// import which, and who may touch the process around it.
package weft_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/weftcrawl/weft/"

// allowed names, for every package, the packages of ours that it may import:
// cmd → crawl → processors → topics, codecs, ledger, domain packages, effects.
// A new package needs a line of its own.
var allowed = map[string][]string{
	// The program.
	"cmd/weft": {"cluster", "codecs", "crawl", "drain", "fetch", "ledger", "metrics", "output", "parse", "plan", "politeness", "processors", "progress", "replay", "scope", "store", "topics", "transfer", "traps", "trouble", "urls", "variants", "verify", "verify/accesslog", "why"},
	"crawl":    {"bodies", "broker", "cluster", "dirlock", "drain", "fetch", "ledger", "metrics", "output", "processors", "progress", "store", "supervise", "topics", "trouble", "urls", "warc"},
	"processors": {
		"cluster", "codecs", "codecs/weftpb", "ledger", "replay", "topics", "trouble", // records
		"dedupe", "frontier", "parse", "politeness", "robots", "scope", "similar", "traps", "urls", "variants", // decisions
		"bodies", "duplicates", "fetch", "lanes", "lease", "output", "store", "supervise", "warc", // effects
	},

	// Records and ledgers.
	"codecs":        {"codecs/weftpb"},
	"codecs/weftpb": {},
	"topics":        {},
	"trouble":       {"topics"},
	"ledger":        {"cluster", "codecs/weftpb", "dirlock", "state", "store", "supervise"},
	"drain":         {"codecs/weftpb", "ledger", "replay", "topics"},
	"replay":        {"codecs/weftpb", "ledger"},
	"why": {
		"codecs", "codecs/weftpb", "drain", "ledger", "progress", "replay", "topics", "trouble", // what there is to know
		"frontier", "lanes", "parse", "politeness", "processors", "robots", "scope", "traps", "urls", "variants", // who decided it
	},

	// It computes by the bounds of those who decide.
	"plan": {"frontier", "lanes", "politeness"},

	"verify": {
		"codecs/weftpb", "replay", "topics", "verify/accesslog", // what is read
		"fetch", "parse", "politeness", "processors", "robots", "scope", "traps", "urls", // what it shares with the crawl
	},
	"verify/accesslog": {},

	// It writes what owners of ledgers wrote, and knows what of it says where.
	"transfer": {"bodies", "codecs", "codecs/weftpb", "frontier", "ledger", "replay", "store", "topics", "urls"},

	// Domain packages: pure. The frontier applies politeness.
	"dedupe":            {"codecs/weftpb", "state", "urls"},
	"frontier":          {"codecs/weftpb", "politeness", "state", "urls"},
	"frontier/memstore": {},
	"httpfield":         {},
	"mediatype":         {"httpfield"},
	"parse":             {"codecs/weftpb", "httpfield", "mediatype", "urls"},
	"politeness":        {"codecs/weftpb", "urls"},
	"robots":            {"codecs/weftpb", "httpfield", "urls"},
	"scope":             {"codecs/weftpb", "urls"},
	"similar":           {},
	"state":             {},
	"traps":             {"codecs/weftpb", "state"},
	"urls":              {},
	"variants":          {"codecs/weftpb", "state", "urls"},

	// Effects.
	"bodies":     {"codecs/weftpb", "store"},
	"broker":     {"dirlock"},
	"cluster":    {},
	"dirlock":    {},
	"duplicates": {"dirlock", "similar"},
	"fetch":      {"codecs/weftpb", "mediatype", "urls"},
	"lanes":      {"codecs/weftpb"},
	"lease":      {},
	"metrics":    {"codecs/weftpb", "drain", "fetch", "ledger", "politeness", "topics"},
	"output":     {},
	"progress":   {},
	"store":      {},
	"supervise":  {},
	"warc":       {"codecs/weftpb"},

	// The loop under virtual time.
	"sim": {
		"codecs/weftpb", "drain", "fetch", "frontier", "frontier/memstore", "lanes", "lease", "ledger", "politeness", "processors", "replay", "state", "topics", "urls",
	},

	// What tests and benchmarks crawl, and crawl with.
	"freeport":            {},
	"kafkatest":           {"freeport"},
	"cluster/clustertest": {"cluster", "kafkatest"},
	"s3test":              {"freeport"},
	"webtest":             {},
	"bench/limit":         {},
	"bench/localweb":      {"webtest"},
	"bench/neardup":       {"duplicates", "parse", "similar"},
	"bench/run":           {"bench/localweb", "codecs/weftpb", "dedupe", "drain", "freeport", "plan", "topics", "webtest"},
	"bench/web":           {"bench/localweb", "webtest"},

	// What users of a crawl may write: they know its topics and nothing of ours.
	"examples/go/consume": {},
	"examples/go/seed":    {},

	// What deploy files are held against; a module of its own.
	"deploy/check": {},
}

// domain packages, and plan, take time, randomness and state as arguments.
var domain = []string{"dedupe", "frontier", "httpfield", "mediatype", "parse", "plan", "politeness", "robots", "scope", "similar", "state", "traps", "urls", "variants"}

// impure is what domain packages may not import, by prefix.
var impure = []string{
	"os", "net", "syscall", "io/fs", "math/rand", "crypto/rand", "log", "context",
	"github.com/lovoo", "github.com/IBM", "github.com/twmb", "github.com/cockroachdb", "github.com/prometheus",
}

// pureParts of impure packages only compute.
var pureParts = []string{"net/url", "net/netip", "net/http"}

// clock reads or awaits the time.
var clock = []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.Tick", "time.NewTimer", "time.NewTicker", "time.AfterFunc"}

// surroundings are read by commands and benchmarks only, and by kafkatest, a
// part of tests: it has to know whether it is in CI.
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

func TestPackagesImportDownwards(t *testing.T) {
	for _, s := range sources(t) {
		may, known := allowed[s.pkg]
		if !known {
			t.Errorf("%s: package %s has no line in the table of allowed imports", s.path, s.pkg)
			continue
		}
		for _, imported := range s.imports {
			if ours, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(may, ours) {
				t.Errorf("%s imports %s, which %s may not", s.path, ours, s.pkg)
			}
		}
	}
}

func TestAllowedImportsHaveNoCycleAndNoDeadLines(t *testing.T) {
	packages := map[string]bool{}
	for _, s := range sources(t) {
		packages[s.pkg] = true
	}
	for pkg, may := range allowed {
		if !packages[pkg] {
			t.Errorf("the table has a line for %s, which does not exist", pkg)
		}
		for _, imported := range may {
			if slices.Contains(allowed[imported], pkg) {
				t.Errorf("%s and %s may import each other", pkg, imported)
			}
		}
	}
}

func TestDomainPackagesArePure(t *testing.T) {
	for _, s := range sources(t) {
		root, _, _ := strings.Cut(s.pkg, "/")
		if !slices.Contains(domain, root) {
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

func TestOnlyProcessorsAndLedgerKnowGoka(t *testing.T) {
	for _, s := range sources(t) {
		for _, imported := range s.imports {
			if isUnder(imported, []string{"github.com/lovoo"}) && s.pkg != "processors" && s.pkg != "ledger" ||
				isUnder(imported, []string{"github.com/IBM"}) && s.pkg != "cluster" && s.pkg != "ledger" {
				t.Errorf("%s imports %s", s.path, imported)
			}
		}
	}
}

func TestOnlyCommandsReadTheirSurroundings(t *testing.T) {
	for _, s := range sources(t) {
		if s.file.Name.Name == "main" || strings.HasPrefix(s.pkg, "bench/") || s.pkg == "kafkatest" {
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

// uses returns those of names ("package.Name") that a file mentions.
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
