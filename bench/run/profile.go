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

// profile returns where a crawl of weft spends its processor time.
func (b *bench) profile(ctx context.Context, programs []performance.Program) (*profile.Profile, error) {
	addrs, err := freeport.Loopback(1)
	if err != nil {
		return nil, err
	}
	weft := programs[slices.IndexFunc(programs, func(p performance.Program) bool { return p.Name == performance.Weft })]
	taking, stop := context.WithCancel(ctx)
	defer stop()
	parts := make(chan []*profile.Profile, 1)
	go func() { parts <- takeProfiles(taking, "http://"+addrs[0]+"/debug/pprof/profile?seconds=1") }()
	_, err = b.measure(ctx, program{name: "profile", line: weft.Command + " --metrics " + addrs[0]}, 1)
	stop()
	all := <-parts
	if err != nil {
		return nil, err
	}
	return profile.Merge(all)
}

// takeProfiles takes one profile after another until ctx ends, for nobody knows when a
// crawl ends. What the last one has seen when the server ends is lost.
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
