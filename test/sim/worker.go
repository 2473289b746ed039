package sim

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/topics"
)

// worker is one instance of a stateless stage, as stage.Worker is in a running
// crawl. It handles records in any order, and commits up to the oldest one that is
// not finished.
type worker struct {
	baseShell
	instance  *instance
	w         *world
	stage     topics.Stage
	transform stage.Transform
	member    *member
	out       *producer
	inputs    []*input // in order
	ending    bool     // no record is begun any more
}

// input is a partition that the worker reads.
type input struct {
	topicPartition
	next     int64
	open     int
	progress stage.Progress
	toCommit int64
	dropped  bool
	reading  bool
	ready    bool // next is known
}

func newWorker(i *instance, name topics.Stage) *worker {
	return &worker{instance: i, w: i.proc.w, stage: name, transform: i.proc.w.transforms[name], out: newProducer(i)}
}

func (k *worker) start() {
	k.member = &member{instance: k.instance, assigned: k.assigned, revoked: k.revoked}
	k.w.cluster.groups[k.stage].join(k.member)
}

// onControl reads on, if the stage was paused and is not any more.
func (k *worker) onControl() {
	for _, in := range k.inputs {
		k.wake(in)
	}
}

// stop ends the instance when the records that were begun are finished, or that
// takes too long.
func (k *worker) stop() {
	k.ending = true
	finished := func() bool { return !slices.ContainsFunc(k.inputs, func(in *input) bool { return in.open > 0 }) }
	k.instance.wait(finished, 10*time.Millisecond, k.w.drainDeadline(), func() {
		k.flush()
		k.instance.leave()
	})
}

func (k *worker) assigned(partitions []int32) {
	group := k.w.cluster.groups[k.stage]
	for _, topic := range k.w.names.Inputs(k.stage) {
		for _, p := range partitions {
			in := &input{topicPartition: topicPartition{topic, p}}
			k.inputs = append(k.inputs, in)
			k.instance.after(k.w.latency(), func() {
				in.ready, in.next = true, max(group.committed(in.topicPartition), k.w.cluster.logs[in.topicPartition].start)
				k.w.cluster.subscribe(in.topicPartition, func() { k.wake(in) })
				k.wake(in)
			})
		}
	}
	k.instance.after(commitEvery, k.commit)
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
	k.instance.after(k.w.pollInterval(), k.commit)
}

func (k *worker) flush() {
	for _, in := range k.inputs {
		if in.toCommit > 0 {
			k.member.commit(in.topicPartition, in.toCommit)
			in.toCommit = 0
		}
	}
}

func (k *worker) wake(in *input) {
	if in.reading || in.dropped || !in.ready || k.instance.ended {
		return
	}
	in.reading = true
	k.instance.after(k.w.latency(), func() {
		in.reading = false
		k.read(in)
	})
}

// read begins records, up to a limit, unless the stage is paused.
func (k *worker) read(in *input) {
	if in.dropped || k.ending || k.instance.proc.paused(k.stage) {
		return
	}
	for _, r := range k.w.cluster.logs[in.topicPartition].read(in.next, maxOpen-in.open) {
		in.next = r.offset + 1
		in.open++
		// The key is a copy: a worker keeps nothing of a record that it has finished.
		kr := &kgo.Record{Topic: in.topic, Partition: in.partition, Offset: r.offset, Key: slices.Clone(r.key), Value: r.value}
		in.progress.Begin(kr)
		k.instance.after(k.w.latency(), func() { k.handle(in, kr, r.foreign) })
	}
}

const maxOpen = 16

func (k *worker) handle(in *input, r *kgo.Record, foreign bool) {
	offset := r.Offset
	out, reason := k.transform(&kgo.Record{Topic: r.Topic, Partition: r.Partition, Offset: offset, Key: r.Key, Value: r.Value})
	if reason != "" && !foreign {
		k.w.violate("rejected", "%s rejects %v at %d: %s", k.instance.name, in.topicPartition, offset, reason)
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
	early := k.w.bug("worker-commits-early")
	for _, record := range out {
		to := topicPartition{record.Topic, topics.Partition(record.Domain, k.w.partitions)}
		k.out.send(to, record.Key, record.Value, func(_ int64, err error) {
			if err != nil {
				k.instance.fail(err)
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
	case k.w.bug("marks-jump"):
		in.toCommit = max(in.toCommit, offset+1)
	case last != nil:
		in.toCommit = last.Offset + 1
	}
	k.wake(in)
}
