package main

import (
	"math"
	"slices"

	"github.com/weftcrawl/weft/inspect/plan"
)

// driver is one of the counts of a load.
type driver int

const (
	page driver = iota
	link
	kib
	domain
	queued
)

func (d driver) of(l plan.Load) float64 {
	return []float64{l.Pages, l.Links, l.KiB, l.Domains, l.Queued}[d]
}

// sample is one crawl that was measured: what it did, and what that took, by
// the name of the quantity.
type sample struct {
	load  plan.Load
	taken map[string]float64
}

// leastPart of what the mean sample took; less is noise.
const leastPart = 0.001

type amounts [queued + 1]float64

// fit finds the cost whose products with the loads come closest to what the samples took, with
// least squares of the relative errors. No driver has a negative part: nothing costs less for
// being more. A driver whose part would be below leastPart has no part.
func fit(samples []sample, quantity string, drivers ...driver) plan.Cost {
	parts, cost := solve(samples, quantity, drivers)
	kept := slices.DeleteFunc(slices.Clone(drivers), func(d driver) bool { return parts[d] < leastPart })
	if len(kept) < len(drivers) {
		return fit(samples, quantity, kept...)
	}
	return plan.Cost{Page: cost[page], Link: cost[link], KiB: cost[kib], Domain: cost[domain], Queued: cost[queued]}
}

// solve returns the parts that the drivers of the mean load have in the mean sample,
// and what one of each driver costs. It minimizes the squares driver by driver
// (coordinate descent), until nothing changes.
func solve(samples []sample, quantity string, drivers []driver) (parts, cost amounts) {
	var mean float64
	var load amounts
	for _, s := range samples {
		mean += s.taken[quantity] / float64(len(samples))
		for _, d := range drivers {
			load[d] += d.of(s.load) / float64(len(samples))
		}
	}
	scaled := func(d driver, s sample) float64 { return d.of(s.load) / max(load[d], 1e-9) }
	var left [len(parts)]amounts // the normal equations
	var right amounts
	for _, s := range samples {
		y := s.taken[quantity] / mean
		if !(y > 0) {
			continue // not measured there, or nothing
		}
		for _, d := range drivers {
			x := scaled(d, s) / y
			for _, e := range drivers {
				left[d][e] += x * scaled(e, s) / y
			}
			right[d] += x
		}
	}
	for changed := true; changed; {
		changed = false
		for _, d := range drivers {
			if !(left[d][d] > 0) {
				continue // no sample has any of it
			}
			before, rest := parts[d], right[d]
			for _, e := range drivers {
				rest -= left[d][e] * parts[e]
			}
			parts[d] = max(0, before+rest/left[d][d])
			changed = changed || math.Abs(parts[d]-before) > 1e-12
		}
	}
	for _, d := range drivers {
		cost[d] = parts[d] * mean / load[d]
	}
	return parts, cost
}
