package why

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"text/template"
	"time"

	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/internal/urls"
	"github.com/weftcrawl/weft/processors/schedule/frontier"
	"github.com/weftcrawl/weft/topics"
)

// The texts of the stories: what is said, and in which case. They are parsed when they are used
// first, since that takes as long as the start of the program.
var (
	//go:embed *.tmpl
	texts      embed.FS
	urlText    = lazyText("url.tmpl")
	domainText = lazyText("domain.tmpl")
	crawlText  = lazyText("crawl.tmpl")
)

func lazyText(file string) func() *template.Template {
	return sync.OnceValue(func() *template.Template { return parseText(file) })
}

func parseText(file string) *template.Template {
	return template.Must(template.New(file).Funcs(template.FuncMap{
		"plural":  func(n any, noun string) string { return plural(integer(n), noun) },
		"count":   func(n any) string { return progress.Count(integer(n)) },
		"number":  func(index int) int { return index + 1 },
		"span":    func(n int64) string { return span(ms(n)) },
		"percent": percent,
		"join":    strings.Join,
		"excerpt": excerpt,
		"word":    func(kind string, code any) string { return words[kind][fmt.Sprint(code)] },
		"bytes":   progress.Bytes,
		"answer":  answerText,
		"delay":   Delay.text,
		"refusal": refusalWords,
		"reasons": progress.ByCount,
		"settled": (*DomainStory).settled,
		"newest": func(attempts []DomainAttempt) []DomainAttempt {
			attempts = slices.Clone(attempts)
			slices.Reverse(attempts)
			return attempts
		},
	}).ParseFS(texts, file, "attempt.tmpl"))
}

// say executes one text.
func say(text *template.Template, name string, about any) (string, error) {
	var b strings.Builder
	err := text.ExecuteTemplate(&b, name, about)
	return b.String(), err
}

// writeScreen prints a head and, below it, facts: a name in the first column and a text beside
// it. The template "facts" has them as lines of the form "name | text".
func writeScreen(w io.Writer, text *template.Template, story any) error {
	head, err1 := say(text, "head", story)
	facts, err2 := say(text, "facts", story)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	b := bytes.NewBufferString(head + "\n")
	if facts != "" {
		b.WriteString("\n")
	}
	for fact := range strings.Lines(facts) {
		name, fact, _ := strings.Cut(fact, "| ")
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("  %-9s %s", strings.TrimSpace(name), fact), " \n"))
	}
	_, err := b.WriteTo(w)
	return err
}

// WriteText prints the story as one screen.
func (s *URLStory) WriteText(w io.Writer) error { return writeScreen(w, urlText(), s) }

// WriteText prints the story as one screen.
func (s *DomainStory) WriteText(w io.Writer) error { return writeScreen(w, domainText(), s) }

// WriteText prints the story as one screen.
func (s *CrawlStory) WriteText(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if err := crawlText().Execute(columns, s); err != nil {
		return err
	}
	return columns.Flush()
}

// item is an item of a list, or a number of items in the middle that are not shown.
type item struct {
	Index, Omitted int
	Item           any
}

// excerpt returns the first and the last items of a list, and how many are between them.
func excerpt(list any, first, last int) (items []item) {
	all := reflect.ValueOf(list)
	for i := range all.Len() {
		switch {
		case i < first || i >= all.Len()-last:
			items = append(items, item{Index: i, Item: all.Index(i).Interface()})
		case i == first:
			items = append(items, item{Index: i, Omitted: all.Len() - first - last})
		}
	}
	return items
}

// integer is an integer of any type.
func integer(n any) int64 {
	if v := reflect.ValueOf(n); v.CanUint() {
		return int64(v.Uint())
	}
	return reflect.ValueOf(n).Int()
}

// words explain the codes of stories.
var words = map[string]map[string]string{
	"url": { // reasons of package urls; see refusalWords
		"empty": "it is empty", "not_absolute": "it has no scheme",
		"no_host": "it names no host (no_host)", "too_long": "it is longer than 2,048 bytes (too_long)",
		"malformed": "it is not a URL by the standard (malformed)",
	},
	"priority": { // reasons of frontier.Priority
		"seed":    "seed: it is a seed, or a seed redirects to it",
		"sitemap": "sitemap: a sitemap lists it",
		"shallow": "shallow: at most three links away from a seed",
		"deep":    "deep: more than three links away from a seed",
	},
	"put off": {
		"":             "robots.txt cannot be fetched",
		waitsForName:   "the name of its host was not found, and is looked up once more",
		waitsForOrigin: "its host failed, and waits while the rest of the domain goes on",
	},
	"refused": { // without a request
		frontier.ReasonDisallowed:     "robots.txt of its origin forbids it",
		frontier.ReasonTooManyRules:   "robots.txt of its origin has more rules than are kept, or is not UTF-8, which forbids everything",
		frontier.ReasonUnreachable:    "robots.txt of its origin could not be fetched, which forbids everything",
		frontier.ReasonMissing:        "the name of its host does not exist, and did not exist when it was looked up again",
		frontier.ReasonTooManyOrigins: "its domain has too many origins",
	},
	"verdict": {
		string(frontier.Unasked):  "has to be fetched first",
		string(frontier.Asking):   "is being fetched",
		string(frontier.Referred): "redirects to another domain, from which it is being fetched",
		string(frontier.Waiting):  "cannot be fetched, which forbids everything",
		string(frontier.Refused):  "cannot be fetched, which forbids everything",
	},
	"standing": {
		string(frontier.Unasked): "to be fetched", string(frontier.Asking): "being fetched",
		string(frontier.Referred): "being fetched from another domain", string(frontier.Waiting): "cannot be fetched, URLs wait",
		string(frontier.Refused): "cannot be fetched, URLs are refused", string(frontier.InForce): "in force",
	},
}

// refusalWords explains a reason. There are many reasons for a scheme.
func refusalWords(reason string) string {
	if urls.Refusal(reason).NotCrawlable() {
		return "its scheme is neither http nor https (" + reason + ")"
	}
	return words["url"][reason]
}

// answerText is the part of an answer that decides (politeness.Judge): the class of the
// error, or the status with it if that is an error too.
func answerText(status uint32, class string) string {
	switch {
	case class == "":
		return fmt.Sprint(status)
	case status >= 400:
		return fmt.Sprintf("%d with %s", status, class)
	}
	return class
}

// sentence is the summary of a URL's story. around is empty for a text that is not a URL.
func (s *URLStory) sentence(around loop) (string, error) {
	about := struct {
		*URLStory
		Last     Step // of the history
		Attempts int  // that were made
		ReadyAt  time.Time
		Behind   string // why the next stage has not read the URL; empty if it is not known
	}{URLStory: s}
	for _, about.Last = range s.History {
		if about.Last.What == Attempted {
			about.Attempts++
		}
	}
	if about.ReadyAt = about.Last.RetryAt; s.Queue != nil {
		about.ReadyAt = s.Queue.ReadyAt
	}
	switch s.State {
	case StateInTransit:
		about.Behind = around.behind(s.Transit.Stage, s.Partition)
	case StateDeduped:
		about.Behind = around.behind(topics.Schedule, s.Partition)
	}
	return say(urlText(), s.State, about)
}

// settled counts the settled URLs. Withdrawn URLs are not settled.
func (s *DomainStory) settled() (n int64) {
	for reason, count := range s.Outcomes {
		if reason != frontier.ReasonWithdrawn {
			n += count
		}
	}
	return n
}
