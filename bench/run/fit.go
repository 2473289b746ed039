package main

import (
	"math"

	"github.com/weftcrawl/weft/plan"
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

// fit finds the cost whose products with the loads come closest to what the
// samples took, with least squares of the relative errors. A driver whose part
// would be negative has none: nothing costs less for being more. Neither has one
// whose part is below leastPart, which is noise.
func fit(samples []sample, quantity string, drivers ...driver) plan.Cost {
	for {
		shares, parts := solve(samples, quantity, drivers)
		least := 0
		for i := range parts {
			if parts[i] < parts[least] {
				least = i
			}
		}
		if len(parts) == 0 || parts[least] >= leastPart {
			return costOf(drivers, shares)
		}
		drivers = append(append([]driver(nil), drivers[:least]...), drivers[least+1:]...)
	}
}

// leastPart of what the mean sample took.
const leastPart = 0.001

func costOf(drivers []driver, shares []float64) plan.Cost {
	var all [queued + 1]float64
	for i, d := range drivers {
		all[d] = shares[i]
	}
	return plan.Cost{Page: all[page], Link: all[link], KiB: all[kib], Domain: all[domain], Queued: all[queued]}
}

// solve is the least-squares solution without bounds: the normal equations by
// Gauss and Jordan, with the drivers scaled to a mean of one. A driver that the
// samples do not tell from the others gets no share. parts are what the mean load
// takes of the mean sample, for each driver.
func solve(samples []sample, quantity string, drivers []driver) (shares, parts []float64) {
	n := len(drivers)
	scale := make([]float64, n)
	for i, d := range drivers {
		for _, s := range samples {
			scale[i] += d.of(s.load) / float64(len(samples))
		}
	}
	a := make([][]float64, n) // n rows of n coefficients and a right side
	for i := range a {
		a[i] = make([]float64, n+1)
	}
	mean := 0.0
	for _, s := range samples {
		mean += s.taken[quantity] / float64(len(samples))
	}
	for _, s := range samples {
		y := s.taken[quantity] / mean
		if !(y > 0) {
			continue // not measured there, or nothing
		}
		for i, di := range drivers {
			xi := di.of(s.load) / scale[i] / y
			for j, dj := range drivers {
				a[i][j] += xi * dj.of(s.load) / scale[j] / y
			}
			a[i][n] += xi
		}
	}
	shares, parts = make([]float64, n), make([]float64, n)
	used := make([]bool, n)
	of := make([]int, n) // the row that gives a driver's share
	for col := range n {
		best := -1
		for row := range n {
			if !used[row] && (best < 0 || math.Abs(a[row][col]) > math.Abs(a[best][col])) {
				best = row
			}
		}
		of[col] = -1
		if best < 0 || !(math.Abs(a[best][col]) > 1e-9) {
			continue
		}
		used[best], of[col] = true, best
		for row := range n {
			if factor := a[row][col] / a[best][col]; row != best {
				for k := range a[row] {
					a[row][k] -= factor * a[best][k]
				}
			}
		}
	}
	for col, row := range of {
		if row >= 0 {
			parts[col] = a[row][n] / a[row][col]
			shares[col] = parts[col] * mean / scale[col]
		}
	}
	return shares, parts
}
