// Command weft crawls the web through a loop of Kafka topics. Flags,
// environment and the configuration file are read here and nowhere else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"reflect"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/internal/kafka"
	"github.com/weftcrawl/weft/topics"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // the work could not be done
	exitUsage  = 2 // the command line, or what it names, cannot be used
)

func main() {
	collectAt(gcPercent)
	log.SetOutput(io.Discard) // net/http writes there what servers make it say, as often as they like
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, engine{crawl.Run, crawl.RunStages}))
}

// streams are the standard ones, or a test's.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the whole program; it returns the exit code. After an interrupt or weft stop it
// ends within ten seconds, even if a broker does not answer or a pipe stays silent.
func run(args []string, std streams, eng engine) int {
	ctx, stop := untilInterrupted()
	defer stop()
	done, ordered := make(chan int, 1), make(chan struct{})
	eng = eng.telling(sync.OnceFunc(func() { close(ordered) }))
	go func() { done <- command(ctx, args, std, eng) }()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
	case <-ordered:
	}
	select {
	case code := <-done:
		return code
	case <-time.After(graceTimeout):
		fmt.Fprintln(std.err, "weft: ended without waiting for what hangs; the next run goes on as after a kill, and loses nothing")
		return exitDone
	}
}

// graceTimeout is how long an end may take.
const graceTimeout = 9 * time.Second

// command does what the arguments say and returns the exit code.
func command(ctx context.Context, args []string, std streams, eng engine) int {
	var grammar cli
	parser, err := newParser(&grammar, std)
	if err == nil {
		var parsed *kong.Context
		if parsed, err = parser.Parse(args); err != nil {
			err = usageError{err}
			if errors.Is(err, errVersionAsked) {
				err = writeVersion(std.out)
			}
		} else {
			parsed.BindTo(ctx, (*context.Context)(nil))
			parsed.Bind(eng, std)
			err = parsed.Run()
		}
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exitDone // interrupted as asked
	}
	return exitCode(err, std.err)
}

func newParser(grammar *cli, std streams) (*kong.Kong, error) {
	return kong.New(grammar,
		kong.Name("weft"),
		kong.Description("A web crawler that is a loop of Kafka topics."),
		kong.Writers(std.out, std.err),
		kong.DefaultEnvars("WEFT"),
		kong.WithHyphenPrefixedParameters(true), // --max-depth -1
		kong.KindMapper(reflect.String, withValue("")),
		kong.NamedMapper("path", withValue("path")),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
}

// withValue maps the values of a flag as kong does for the type tag kind, and wants one. Where values may
// begin with a hyphen, kong takes a flag at the end of the line, which has none, as empty.
func withValue(kind string) kong.MapperFunc {
	registry := kong.NewRegistry().RegisterDefaults()
	return func(ctx *kong.DecodeContext, target reflect.Value) error {
		if ctx.Scan.Peek().IsEOL() {
			return errors.New("missing value")
		}
		return registry.ForNamedValue(kind, target).Decode(ctx, target)
	}
}

// untilInterrupted returns a context that ends at the first SIGINT or SIGTERM, for a
// graceful end. A second signal has its default effect and ends the process at once.
func untilInterrupted() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// exitCode prints err, if any, as one sentence.
func exitCode(err error, to io.Writer) int {
	if err == nil || errors.Is(err, syscall.EPIPE) { // the reader of our output has seen enough
		return exitDone
	}
	fmt.Fprintf(to, "weft: %v\n", err)
	if isUsage(err) {
		return exitUsage
	}
	return exitFailed
}

// usageError is a mistake on the command line, in the environment, in the
// configuration file, or in what they name: exit code 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func isUsage(err error) bool {
	var usage usageError
	return errors.As(err, &usage) || errors.Is(err, crawl.ErrUsage) || errors.Is(err, topics.ErrPinned) || errors.Is(err, kafka.ErrRefused)
}

// gcPercent lets the heap grow to three and a half times the live data before a
// collection (Go's default: twice), up to the limit of package memory. Collecting less
// often saves a tenth of the CPU.
const gcPercent = 250

// collectAt sets the growth of the heap, in percent, at which it is collected.
// GOGC in the environment wins.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
