package document

// figures find the captions of images: the text of the figcaption in the figure around an image
// (WHATWG HTML, the figure element). In figures within figures the innermost one that has a
// caption counts.
type figures struct {
	open []figure
	// deeper counts open figures beyond maxFigures. They are as if they were not there.
	deeper int
	// images are the links of the open figures that have no caption yet. Those of inner figures
	// come last.
	images []int
	// within is the number of the open figure, from 1, whose figcaption is open; 0: no figcaption
	// is open.
	within int
	text   prose
}

// figure is an open figure element. The links from images on are its own, and its caption is
// texts[from:to].
type figure struct{ images, from, to int }

// maxFigures is how many open figures count.
const maxFigures = 16

func (f *figures) begin() {
	f.open, f.images = f.open[:0], f.images[:0]
	f.deeper, f.within = 0, 0
	f.text.reset()
}

func (c *collector) startFigure() {
	f := &c.figures
	if len(f.open) == maxFigures {
		f.deeper++
		return
	}
	f.open = append(f.open, figure{images: len(f.images)})
}

func (c *collector) endFigure() {
	f := &c.figures
	last := len(f.open) - 1
	switch {
	case f.deeper > 0:
		f.deeper--
		return
	case last < 0:
		return
	case f.within > last:
		c.takeCaption()
	}
	ended := f.open[last]
	f.open = f.open[:last]
	switch {
	case ended.from < ended.to:
		for _, i := range f.images[ended.images:] {
			c.links.setCaption(i, ended.from, ended.to)
		}
		f.images = f.images[:ended.images]
	case last == 0:
		f.images = f.images[:0]
	}
}

// startCaption takes the start of a figcaption. The first one of a figure that has text counts.
func (c *collector) startCaption() {
	f := &c.figures
	if last := len(f.open) - 1; f.deeper == 0 && f.within == 0 && last >= 0 && f.open[last].from == f.open[last].to {
		f.within = last + 1
	}
}

// endCaption takes the end of a figcaption.
func (c *collector) endCaption() {
	if f := &c.figures; f.within > 0 && f.within == len(f.open) && f.deeper == 0 {
		c.takeCaption()
	}
}

// takeCaption keeps the text of the open figcaption.
func (c *collector) takeCaption() {
	f := &c.figures
	f.text.trim()
	f.open[f.within-1].from, f.open[f.within-1].to = c.links.addText(f.text.buf)
	f.within = 0
	f.text.reset()
}

// inFigure notes that link i is in the open figure, if it is an image or other media.
func (c *collector) inFigure(i int, kind Kind) {
	if f := &c.figures; len(f.open) > 0 && i >= 0 && (kind == KindImage || kind == KindMedia) && len(f.images) < c.opts.MaxParts {
		f.images = append(f.images, i)
	}
}
