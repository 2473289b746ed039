package sim

import (
	"time"

	"github.com/weftcrawl/weft/processors"
)

// pageFile is the file of a crawl's pages, with the sidecar that says how far
// it counts.
type pageFile struct {
	pages   []line
	flushed int             // pages that a new life finds
	next    map[int32]int64 // offsets of parsed that it goes on with
}

// line is a page in the file.
type line struct {
	url       string
	partition int32
}

// sink is one life of the writer of pages, as processors.PageSink is in a
// running crawl.
type sink struct {
	life  *life
	w     *world
	file  *pageFile
	next  map[int32]int64
	quota processors.Quota
}

func newSink(l *life) *sink { return &sink{life: l, w: l.proc.w, file: &l.proc.pages} }

func (s *sink) begin() {
	s.file.pages = s.file.pages[:s.file.flushed]
	s.next = map[int32]int64{}
	for p, next := range s.file.next {
		s.next[p] = next
	}
	s.quota = processors.NewQuota(s.w.c.MaxPages, s.w.bugs.written(s.next))
	s.life.after(s.w.latency(), s.write)
	s.life.after(flushEvery, s.flushAgain)
}

// flushEvery is the age at which written pages are recorded.
const flushEvery = time.Second

// write writes what is parsed, until the crawl is full.
func (s *sink) write() {
	for p := range s.w.partitions {
		for _, r := range s.w.cluster.log(s.w.names.Parsed, p).read(s.next[p], 10) {
			if s.quota.Full() {
				break
			}
			s.file.pages = append(s.file.pages, line{string(r.key), p})
			s.next[p] = r.offset + 1
			s.quota.Write()
		}
	}
	if !s.quota.Full() {
		s.life.after(s.w.rhythm()/2, s.write)
		return
	}
	s.flush()
	s.w.trace("%s is full", s.life.name)
	s.life.proc.stop(s.w.judgeFull)
}

func (s *sink) flushAgain() {
	s.flush()
	s.life.after(flushEvery, s.flushAgain)
}

func (s *sink) flush() {
	s.file.flushed, s.file.next = len(s.file.pages), map[int32]int64{}
	for p, next := range s.next {
		s.file.next[p] = next
	}
}

func (s *sink) stop() {
	s.flush()
	s.life.leave()
}

func (s *sink) release() {}
func (s *sink) hear()    {}

// judgeFull judges the end of a crawl that has as many pages as it was to have.
func (w *world) judgeFull() {
	w.over = true
	w.trace("full")
	w.count("full")
	file := w.procs[0].pages
	if int64(file.flushed) != w.c.MaxPages || file.flushed != len(file.pages) {
		w.violate("pages", "%d pages are written, %d are to be", file.flushed, w.c.MaxPages)
	}
	w.judgeQuiet()
	if w.lossy {
		return
	}
	// Each page of parsed is there once, in order, from the first on.
	next := map[int32]int64{}
	for _, page := range file.pages {
		l := w.cluster.log(w.names.Parsed, page.partition)
		if at := next[page.partition]; at >= l.seen || string(l.records[at].key) != page.url {
			w.violate("pages", "%s is not page %d of %v", page.url, at, l.place)
			return
		}
		next[page.partition]++
	}
}

// pagesOf tells whether a process writes pages: the one of a crawl in one
// process that has a limit of them.
func (w *world) pagesOf(p *process) bool { return w.c.MaxPages > 0 && p == w.procs[0] }

// judgeQuiet judges that nothing is asked of the web at the moment.
func (w *world) judgeQuiet() {
	for _, a := range w.web.log {
		if a.end < 0 {
			w.violate("quiet", "%s is asked and not answered, and all is said to be over", a.url)
		}
	}
}
