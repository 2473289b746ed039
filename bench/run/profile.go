package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"github.com/weftcrawl/weft/bench/performance"
	"github.com/weftcrawl/weft/test/freeport"
)

// profiledPages is how many times as many pages the crawl of the profile has as the
// others. Those have few pages because some of the programs are slow, and what a profile
// has not seen at the end of a short crawl is much of it.
const profiledPages = 4

// shares returns where a crawl of weft spends its processor time, and how many µs of it
// it takes for a page.
func (b *bench) shares(ctx context.Context, programs []performance.Program) (all []performance.Share, cpuPerPage float64, err error) {
	addrs, err := freeport.Loopback(1)
	if err != nil {
		return nil, 0, err
	}
	weft := programs[slices.IndexFunc(programs, func(p performance.Program) bool { return p.Name == performance.Weft })]
	taking, stop := context.WithCancel(ctx)
	defer stop()
	parts := make(chan []*profile.Profile, 1)
	go func() { parts <- takeProfiles(taking, "http://"+addrs[0]+"/debug/pprof/profile?seconds=1") }()
	large := *b
	large.spec.Pages *= profiledPages
	crawl, err := large.measure(ctx, program{name: "profile", line: weft.Command + " --metrics " + addrs[0]}, 1)
	stop()
	taken := <-parts
	if err != nil {
		return nil, 0, err
	}
	merged, err := profile.Merge(taken)
	if err != nil {
		return nil, 0, err
	}
	all, err = performance.Shares(merged)
	return all, crawl.run().CPUPerPage(), err
}

// takeProfiles takes one profile after another until ctx ends, because
// the end of a crawl is not known. The last profile is lost when the server ends.
func takeProfiles(ctx context.Context, url string) (all []*profile.Profile) {
	for ctx.Err() == nil {
		p, err := takeProfile(ctx, url)
		if err != nil {
			_ = wait(ctx, samplePeriod) // the server is not up yet, or not any more
			continue
		}
		all = append(all, p)
	}
	return all
}

func takeProfile(ctx context.Context, url string) (*profile.Profile, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("take a profile: %s", resp.Status)
	}
	return profile.Parse(resp.Body)
}
