package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"go.uber.org/goleak"

	"github.com/weftcrawl/weft/crawl"
	"github.com/weftcrawl/weft/inspect/progress"
	"github.com/weftcrawl/weft/topics"
)

func TestMain(m *testing.M) {
	testscript.Main(tidy{m}, map[string]func(){
		// weft with an engine that tells what it was asked.
		"weft": func() {
			os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, engine{told{}.Run, told{}.RunStages}))
		},
		// weft as it is, and a broker for it to talk to.
		"realweft": main,
		"broker":   serveBroker,
		"site":     serveSite,
		"trickle":  serveTrickle,
		"stranger": writeStrange,
		"damage":   turnBits,
		"misprint": turnEvent,
	})
}

// tidy tests leave no goroutine.
type tidy struct{ *testing.M }

// Run runs the tests.
func (t tidy) Run() int {
	code := t.M.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// patience is how long all scripts together may take. Scripts wait in loops for what
// must happen: one that never sees it is named, and the tests after it go on.
const patience = 12 * time.Minute

// Some scripts are skipped in short mode. .ci/long finds the test by the question below.
func TestScripts(t *testing.T) {
	deadline := time.Now().Add(patience)
	if testing.Short() {
		deadline = time.Now().Add(patience / 4)
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Deadline: deadline})
}

// realEngine is what weft drives.
func realEngine() engine { return engine{crawl.Run, crawl.RunStages} }

// told prints its options and ends as the contact says.
type told struct{}

func (told) Run(ctx context.Context, o crawl.Options) (crawl.Result, error) {
	o.Definition = o.Redefine(o.Definition)
	tell(o, nil)
	o.Watch(progress.Snapshot{Pages: 1})
	switch o.Definition.Contact {
	case "fail":
		return crawl.Result{}, errors.New("the disk is full")
	case "refuse":
		return crawl.Result{}, fmt.Errorf("%w: %s is in use by another process", crawl.ErrUsage, o.Dir)
	case "empty":
		return crawl.Result{Ended: crawl.EndedDrained, Outcomes: map[string]int64{"gave_up_timeout": 1}}, nil
	case "wait":
		fmt.Println("crawling")
		<-ctx.Done()
		return crawl.Result{Ended: crawl.EndedInterrupted, Pages: 7, Pending: 3}, nil
	case "hang":
		fmt.Println("crawling")
		<-ctx.Done()
		fmt.Println("stopping")
		select {}
	case "ordered":
		o.Ordered()
		select {}
	}
	return crawl.Result{Ended: crawl.EndedDrained, Pages: 12, Outcomes: map[string]int64{"fetched": 12}}, nil
}

func (told) RunStages(_ context.Context, o crawl.Options, stages []topics.Stage) error {
	tell(o, stages)
	return nil
}

func tell(o crawl.Options, stages []topics.Stage) {
	var seeds []string
	for _, seed := range o.Seeds {
		seeds = append(seeds, string(seed))
	}
	if o.Redefine != nil {
		o.Definition = o.Redefine(o.Definition)
	}
	o.Fetch = o.Fetch.For(o.Definition)
	o.Definition.SuffixList = "" // differs with every update of the module
	told, err := json.MarshalIndent(map[string]any{
		"definition": o.Definition, "seeds": seeds, "brokers": o.Cluster.Brokers, "listen": o.Listen, "checkpoints": o.Checkpoints, "max_pages": o.Definition.MaxPages,
		"warc": o.WARC, "compress": o.Pages.Compression, "file": o.Pages.File, "stream": o.Pages.Stream != nil,
		"version": o.Fetch.Client.Version != "", "stages": stages,
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	fmt.Println(string(told))
}
