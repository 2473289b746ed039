package performance

import (
	_ "embed"
	"strings"
	"text/template"
)

//go:embed plot.svg.tmpl
var plotTemplate string

// Sizes of the plot in pixels.
const (
	rowHeight = 26
	panelHead = 56
	barWidth  = 300.0
)

// panel is one figure of all programs.
type panel struct {
	Title     string
	Left      int
	Bars      []bar
	HasLabels bool
}

type bar struct {
	Name, Text string
	Top        int
	// Width of the median, and the ends of the range.
	Width, From, To float64
	Weft            bool
}

// Plot is an SVG with the CPU a page and the pages a second of all programs.
func Plot(all []Summary) (string, error) {
	panels := []panel{
		newPanel("CPU µs a page (less is better)", 140, all, func(s Summary) Spread { return s.CPU }),
		newPanel("pages a second (more is better)", 550, all, func(s Summary) Spread { return s.Rate }),
	}
	panels[0].HasLabels = true
	var b strings.Builder
	err := template.Must(template.New("plot").Parse(plotTemplate)).Execute(&b, map[string]any{
		"Panels": panels, "Height": panelHead + rowHeight*len(all) + 8,
	})
	return b.String(), err
}

// newPanel scales the bars so that the greatest figure fits.
func newPanel(title string, left int, all []Summary, figure func(Summary) Spread) panel {
	p := panel{Title: title, Left: left}
	most := 0.0
	for _, s := range all {
		most = max(most, figure(s).Max)
	}
	for i, s := range all {
		f := figure(s)
		p.Bars = append(p.Bars, bar{
			Name: s.Program.Name, Text: whole(f.Median), Top: panelHead + rowHeight*i, Weft: s.Program.Name == Weft,
			Width: f.Median / most * barWidth, From: f.Min / most * barWidth, To: f.Max / most * barWidth,
		})
	}
	return p
}
