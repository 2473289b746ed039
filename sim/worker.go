package sim

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/processors"
	"github.com/weftcrawl/weft/topics"
)

// worker is one life of a stateless stage, as package processors' worker is in
// a running crawl: records in any order, commits behind the oldest unfinished.
type worker struct {
	life      *life
	w         *world
	stage     topics.Stage
	transform processors.Transform
	member    *member
	out       *producer
	inputs    []*input // in order; dropped as a whole
	ending    bool     // nothing is begun any more
}

// input is a partition of an input that the worker has.
type input struct {
	place
	next     int64
	open     int
	progress processors.Progress
	mark     int64
	dropped  bool
	reading  bool
	ready    bool // next is known
}

func newWorker(l *life, name topics.Stage) *worker {
	return &worker{life: l, w: l.proc.w, stage: name, transform: l.proc.w.transforms[name], out: newProducer(l)}
}

func (k *worker) begin() {
	k.member = &member{life: k.life, assigned: k.assigned, revoked: k.revoked}
	k.w.cluster.groups[k.w.names.Group(k.stage)].join(k.member)
}

func (k *worker) release() {}

// hear goes on with the inputs when people hold the stage no more.
func (k *worker) hear() {
	for _, in := range k.inputs {
		k.wake(in)
	}
}

// stop ends the life when what is begun is finished, or that takes too long.
func (k *worker) stop() {
	k.ending = true
	k.finishBy(k.w.now + drainTimeout)
}

func (k *worker) finishBy(deadline time.Duration) {
	for _, in := range k.inputs {
		if in.open > 0 && k.w.now < deadline {
			k.life.after(10*time.Millisecond, func() { k.finishBy(deadline) })
			return
		}
	}
	k.flush()
	k.life.leave()
}

func (k *worker) assigned(partitions []int32) {
	group := k.w.cluster.groups[k.w.names.Group(k.stage)]
	for _, topic := range k.w.names.Inputs(k.stage) {
		for _, p := range partitions {
			in := &input{place: place{topic, p}}
			k.inputs = append(k.inputs, in)
			k.life.after(k.w.latency(), func() {
				in.ready, in.next = true, max(group.committed(in.place), k.w.cluster.logs[in.place].start)
				k.w.cluster.follow(in.place, func() { k.wake(in) })
				k.wake(in)
			})
		}
	}
	k.life.after(commitEvery, k.commit)
}

func (k *worker) revoked(then func()) {
	k.flush()
	for _, in := range k.inputs {
		in.dropped = true
	}
	k.inputs = nil
	then()
}

func (k *worker) commit() {
	if len(k.inputs) == 0 {
		return
	}
	k.flush()
	k.life.after(k.w.rhythm(), k.commit)
}

func (k *worker) flush() {
	for _, in := range k.inputs {
		if in.mark > 0 {
			k.member.commit(in.place, in.mark)
			in.mark = 0
		}
	}
}

func (k *worker) wake(in *input) {
	if in.reading || in.dropped || !in.ready || k.life.ended {
		return
	}
	in.reading = true
	k.life.after(k.w.latency(), func() {
		in.reading = false
		k.read(in)
	})
}

// read begins records, up to a limit, unless people hold the stage.
func (k *worker) read(in *input) {
	if in.dropped || k.ending || k.life.proc.paused(k.stage) {
		return
	}
	for _, r := range k.w.cluster.logs[in.place].read(in.next, maxOpen-in.open) {
		in.next = r.offset + 1
		in.open++
		// A worker keeps nothing of a record that it has finished.
		kr := &kgo.Record{Topic: in.topic, Partition: in.partition, Offset: r.offset, Key: slices.Clone(r.key), Value: r.value}
		in.progress.Begin(kr)
		k.life.after(k.w.latency(), func() { k.handle(in, kr, r.strange) })
	}
}

const maxOpen = 16

func (k *worker) handle(in *input, r *kgo.Record, strange bool) {
	offset := r.Offset
	out, reason := k.transform(&kgo.Record{Topic: r.Topic, Partition: r.Partition, Offset: offset, Key: r.Key, Value: r.Value})
	if reason != "" && !strange {
		k.w.violate("rejected", "%s rejects %v at %d: %s", k.life.name, in.place, offset, reason)
		return
	}
	left := len(out)
	finished := func() {
		k.finish(in, offset)
	}
	if left == 0 {
		finished()
		return
	}
	early := k.w.bug(BugWorkerCommitsEarly)
	for _, record := range out {
		to := place{record.Topic, topics.Partition(record.Domain, k.w.partitions)}
		k.out.send(to, record.Key, record.Value, func(_ int64, err error) {
			if err != nil {
				k.life.fail(err)
				return
			}
			if left--; left == 0 && !early {
				finished()
			}
		})
	}
	if early {
		finished()
	}
}

func (k *worker) finish(in *input, offset int64) {
	in.open--
	last := in.progress.Finish(offset)
	switch {
	case in.dropped:
		return
	case k.w.bug(BugMarksJump):
		in.mark = max(in.mark, offset+1)
	case last != nil:
		in.mark = last.Offset + 1
	}
	k.wake(in)
}
