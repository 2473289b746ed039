package sim

import (
	"maps"
	"time"

	"github.com/weftcrawl/weft/processors/archive"
)

// pageFile is the file of a crawl's pages, with the sidecar that says how much of it
// counts.
type pageFile struct {
	pages   []writtenPage
	flushed int             // pages that a new instance finds
	next    map[int32]int64 // offsets of parsed at which it goes on
}

type writtenPage struct {
	url       string
	partition int32
}

// pageWriter is one instance of the writer of pages, as archive.PageSink is in a
// running crawl.
type pageWriter struct {
	baseShell
	instance *instance
	w        *world
	file     *pageFile
	next     map[int32]int64
	quota    archive.Quota
}

func newPageWriter(i *instance) *pageWriter {
	return &pageWriter{instance: i, w: i.proc.w, file: &i.proc.pages, next: map[int32]int64{}}
}

func (s *pageWriter) start() {
	s.file.pages = s.file.pages[:s.file.flushed]
	maps.Copy(s.next, s.file.next)
	s.quota = archive.NewQuota(s.w.c.MaxPages, s.w.bugs.written(s.next))
	s.instance.after(s.w.latency(), s.write)
	s.instance.after(flushEvery, s.flushAgain)
}

// flushEvery is the age at which written pages are recorded.
const flushEvery = time.Second

// write writes what is parsed, until the crawl is full.
func (s *pageWriter) write() {
	for p := range s.w.partitions {
		for _, r := range s.w.cluster.log(s.w.names.Parsed, p).read(s.next[p], 10) {
			if s.quota.Full() {
				break
			}
			s.file.pages = append(s.file.pages, writtenPage{string(r.key), p})
			s.next[p] = r.offset + 1
			s.quota.Write()
		}
	}
	if !s.quota.Full() {
		s.instance.after(s.w.pollInterval()/2, s.write)
		return
	}
	s.flush()
	s.w.trace("%s is full", s.instance.name)
	s.instance.proc.stop(s.w.checkFull)
}

func (s *pageWriter) flushAgain() {
	s.flush()
	s.instance.after(flushEvery, s.flushAgain)
}

func (s *pageWriter) flush() { s.file.flushed, s.file.next = len(s.file.pages), maps.Clone(s.next) }

func (s *pageWriter) stop() {
	s.flush()
	s.instance.leave()
}

// checkFull checks the end of a crawl that has written as many pages as it may.
func (w *world) checkFull() {
	w.over = true
	w.trace("full")
	w.count("full")
	file := w.procs[0].pages
	if int64(file.flushed) != w.c.MaxPages || file.flushed != len(file.pages) {
		w.violate("pages", "%d pages are written, instead of %d", file.flushed, w.c.MaxPages)
	}
	w.checkNoneOpen()
	if w.lostAcknowledged {
		return
	}
	// The file has each page of parsed once, in order, from the first one on.
	next := map[int32]int64{}
	for _, page := range file.pages {
		l := w.cluster.log(w.names.Parsed, page.partition)
		if at := next[page.partition]; at >= l.highWatermark || string(l.records[at].key) != page.url {
			w.violate("pages", "%s is not page %d of %v", page.url, at, l.topicPartition)
			return
		}
		next[page.partition]++
	}
}

// pagesOf tells whether a process writes pages: the only process of a crawl, if there
// is a limit of pages.
func (w *world) pagesOf(p *process) bool { return w.c.MaxPages > 0 && p == w.procs[0] }
