package processors

import "github.com/twmb/franz-go/pkg/kgo"

// Progress knows which records of one partition are begun and which of them
// are finished; commits follow the oldest unfinished one. It is empty when
// zero, and not safe for concurrent use.
type Progress struct {
	begun    []*kgo.Record // in order of offsets; begun[0] is unfinished
	finished map[int64]bool
}

// Begin books a record that is worked on, in order of offsets.
func (p *Progress) Begin(r *kgo.Record) { p.begun = append(p.begun, r) }

// Finish returns the newest record that may be committed now, nil for none.
func (p *Progress) Finish(offset int64) (last *kgo.Record) {
	if p.finished == nil {
		p.finished = map[int64]bool{}
	}
	p.finished[offset] = true
	for len(p.begun) > 0 && p.finished[p.begun[0].Offset] {
		last = p.begun[0]
		delete(p.finished, last.Offset)
		// The commit needs no more of the record than where it stood.
		last.Key, last.Value = nil, nil
		p.begun[0] = nil
		p.begun = p.begun[1:]
	}
	return last
}
