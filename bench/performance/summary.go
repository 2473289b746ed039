package performance

import "golang.org/x/perf/benchmath"

// Run is one program in one round.
type Run struct {
	Program string
	// Fetched pages of Expected, Repeats of pages, and requests for robots.txt, all by
	// the server's log.
	Fetched, Expected, Repeats, Robots int
	Seconds, CPUSeconds                float64
	PeakMB                             float64
	// KiB of the expected pages.
	KiB float64
}

// PagesPerSecond counts each page once.
func (r Run) PagesPerSecond() float64 { return float64(r.Fetched) / r.Seconds }

// CPUPerPage is µs of processor time.
func (r Run) CPUPerPage() float64 { return r.CPUSeconds * 1e6 / float64(max(r.Fetched, 1)) }

// CPUPerKiB is µs of processor time.
func (r Run) CPUPerKiB() float64 { return r.CPUSeconds * 1e6 / r.KiB }

// confidence of intervals.
const confidence = 0.95

// Spread is the median of some figures, the least and the greatest of them, and the confidence
// interval of the median. The interval is infinite with fewer than six figures.
type Spread struct{ Median, Min, Max, Lo, Hi float64 }

// Summary is one program in all rounds.
type Summary struct {
	Program Program
	// Of all rounds: the fewest pages, and the most repeats and requests for robots.txt.
	Fetched, Expected, Repeats, Robots int
	Seconds, Rate, CPU, PeakMB         Spread
	CPUPerKiB                          Spread
	// RateRatio and CPURatio are to Weft, each of one round.
	RateRatio, CPURatio Spread
}

// Summarize puts together the runs of each of programs, in their order. Each program
// has one run in each round; a program without runs is left out.
func Summarize(programs []Program, runs []Run) (all []Summary) {
	of := map[string][]Run{}
	for _, r := range runs {
		of[r.Program] = append(of[r.Program], r)
	}
	for _, p := range programs {
		mine := of[p.Name]
		if len(mine) == 0 {
			continue
		}
		s := Summary{Program: p, Fetched: mine[0].Fetched, Expected: mine[0].Expected}
		for _, r := range mine {
			s.Fetched, s.Repeats, s.Robots = min(s.Fetched, r.Fetched), max(s.Repeats, r.Repeats), max(s.Robots, r.Robots)
		}
		s.Seconds = spread(mine, func(r Run) float64 { return r.Seconds })
		s.Rate = spread(mine, Run.PagesPerSecond)
		s.CPU = spread(mine, Run.CPUPerPage)
		s.CPUPerKiB = spread(mine, Run.CPUPerKiB)
		s.PeakMB = spread(mine, func(r Run) float64 { return r.PeakMB })
		s.RateRatio = ratio(mine, of[Weft], Run.PagesPerSecond)
		s.CPURatio = ratio(mine, of[Weft], Run.CPUPerPage)
		all = append(all, s)
	}
	return all
}

func spread(runs []Run, figure func(Run) float64) Spread {
	var figures []float64
	for _, r := range runs {
		figures = append(figures, figure(r))
	}
	return spreadOf(figures)
}

// ratio compares round by round.
func ratio(runs, to []Run, figure func(Run) float64) Spread {
	var ratios []float64
	for i := range min(len(runs), len(to)) {
		ratios = append(ratios, figure(runs[i])/figure(to[i]))
	}
	return spreadOf(ratios)
}

// spreadOf is zero without figures.
func spreadOf(figures []float64) Spread {
	if len(figures) == 0 {
		return Spread{}
	}
	sample := benchmath.NewSample(figures, &benchmath.DefaultThresholds) // sorts the figures
	median := benchmath.AssumeNothing.Summary(sample, confidence)
	return Spread{median.Center, figures[0], figures[len(figures)-1], median.Lo, median.Hi}
}
