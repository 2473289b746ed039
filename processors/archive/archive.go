package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/weftcrawl/weft/codecs"
	"github.com/weftcrawl/weft/codecs/weftpb"
	"github.com/weftcrawl/weft/internal/blob"
	"github.com/weftcrawl/weft/internal/stage"
	"github.com/weftcrawl/weft/processors/archive/warc"
	"github.com/weftcrawl/weft/topics"
)

// Options of Run.
type Options struct {
	// Bucket gets the files.
	Bucket blob.Bucket
	// Topic and Parsed are the ids of fetched and parsed: another topic of the same name begins
	// at offset 0 again.
	Topic, Parsed kadm.TopicID
	// WARC are the options of the files.
	WARC warc.Options
	// Info are further fields of warcinfo.
	Info []warc.Field
	// FileBytes is the size after which a file is cut; by default 1 GB, as Annex C of the
	// standard recommends. A file may exceed it by one exchange.
	FileBytes int64
	// FileResponses is the number of responses at which a file is cut; by default 250,000. It bounds the memory: up to
	// 90 bytes for each while the file is open, and 300 while its index is sorted. 1 GB of common pages has
	// 160,000 responses, but of redirects over a million.
	FileResponses int
	// FileAge is the age at which a file is cut; by default an hour.
	FileAge time.Duration
	// Settle: when it is closed, files are cut as soon as there is nothing more to read.
	Settle <-chan struct{}
	// Chore is for one process of the crawl: the owner of partition 0 of fetched runs it. Its
	// context ends with the ownership. The next owner does not wait until it has returned.
	Chore func(context.Context)
}

func (o Options) withDefaults() Options {
	o.FileBytes = cmp.Or(o.FileBytes, DefaultFileBytes)
	o.FileResponses = cmp.Or(o.FileResponses, 250_000)
	o.FileAge = cmp.Or(o.FileAge, DefaultFileAge)
	return o
}

// Defaults of Options.
const (
	DefaultFileBytes int64 = 1e9
	DefaultFileAge         = time.Hour
)

// Run archives the exchanges of fetched and the metadata of parsed until ctx ends. Then it publishes what it has read.
func Run(ctx context.Context, env stage.Env, o Options) error {
	if o.Bucket == nil {
		return fmt.Errorf("%w: the crawl has no archive", stage.ErrFatal)
	}
	return env.Run(ctx, topics.Archive, func(ctx context.Context) error {
		a, err := open(env, o)
		if err != nil {
			return err
		}
		defer a.leave()
		return a.run(ctx)
	})
}

// open begins a life of the stage: it joins the group.
func open(env stage.Env, o Options) (*archiver, error) {
	a, err := newArchiver(env, o.withDefaults())
	if err != nil {
		return nil, err
	}
	if a.rejects, err = env.NewOutbox(topics.Archive); err != nil {
		return nil, err
	}
	a.client, err = env.Cluster.NewClient(append(
		env.MemberOptions(topics.Archive, env.SessionTimeout, env.Heartbeat),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(a.onAssigned),
		kgo.OnPartitionsRevoked(a.onLost),
		kgo.OnPartitionsLost(a.onLost),
		kgo.FetchMaxBytes(1<<20), kgo.FetchMaxPartitionBytes(1<<19), kgo.FetchMaxWait(500*time.Millisecond),
	)...)
	if err != nil {
		a.rejects.Close()
		return nil, err
	}
	a.unfollow = env.FollowPauses(topics.Archive, a.client)
	return a, nil
}

// leave leaves the group.
func (a *archiver) leave() {
	a.unfollow()
	a.client.CloseAllowingRebalance()
	a.chore.stop()
	<-a.chore.ended
	a.rejects.Close()
}

// archiver is one life of the stage. But for onLost, one goroutine uses it: jobs on the
// bucket run beside it, and answer by done.
type archiver struct {
	env     stage.Env
	options Options
	client  *kgo.Client
	rejects *stage.Outbox
	files   publisher
	packer  *warc.Packer
	parts   map[source]*part
	done    chan answer // has room for the answers of all jobs
	jobs    sync.WaitGroup
	running int
	// unfollow ends the following of pauses.
	unfollow func()

	mu   sync.Mutex
	lost []source           // that the group took away
	wake context.CancelFunc // ends the poll that waits

	chore chore
}

func newArchiver(env stage.Env, o Options) (*archiver, error) {
	packer, err := warc.NewPacker(o.WARC)
	if err != nil {
		return nil, err
	}
	none := chore{func() {}, make(chan struct{})}
	close(none.ended)
	return &archiver{
		env: env, options: o, parts: map[source]*part{}, done: make(chan answer, 2*env.Definition.Partitions+1), wake: func() {}, chore: none,
		files: publisher{bucket: o.Bucket, options: o, env: env}, packer: packer,
	}, nil
}

// pollFor is the longest wait for records. Drafts are checked after each wait.
const pollFor = 100 * time.Millisecond

// If the records that wait for a job reach waitingBytes, their partition is not read.
const waitingBytes = 4 << 20

// run archives until ctx ends, and then publishes what it has read, within a time.
func (a *archiver) run(ctx context.Context) error {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer a.close()
	defer end()
	for ctx.Err() == nil {
		if err := a.round(ctx, life, pollFor, a.settles()); err != nil {
			return err
		}
	}
	a.stopChore()
	ending, cancel := context.WithTimeout(life, finishTimeout)
	defer cancel()
	defer context.AfterFunc(ending, end)()
	return a.finish(ending)
}

// finishTimeout bounds the publishing at the end. The next owner reads again what is not
// published.
const finishTimeout = 3500 * time.Millisecond

// settles tells whether files are cut as soon as there is nothing more to read.
func (a *archiver) settles() bool {
	select {
	case <-a.options.Settle:
		return true
	default:
		return a.env.Pauses.Control().Draining
	}
}

// round polls once, and works on what has come.
func (a *archiver) round(ctx, life context.Context, wait time.Duration, settle bool) error {
	a.client.AllowRebalance()
	polling, cancel := context.WithTimeout(ctx, wait)
	a.mu.Lock()
	a.wake = cancel
	a.mu.Unlock()
	if len(a.done) > 0 {
		cancel()
	}
	fetches := a.client.PollRecords(polling, 500)
	cancel()
	a.forget()
	if err := stage.PollError(fetches); err != nil && ctx.Err() == nil {
		return err
	}
	for it := fetches.RecordIter(); !it.Done(); {
		r := it.Next()
		from := source{r.Topic, r.Partition}
		p := a.parts[from]
		if p == nil {
			p = &part{}
			a.parts[from] = p
		}
		p.heard = time.Now()
		p.waiting = append(p.waiting, r)
		p.bytes += len(r.Value)
		if p.job != nil && p.bytes >= waitingBytes && !p.paused {
			p.paused = true
			a.client.PauseFetchPartitions(from.set())
		}
	}
	for from, p := range a.parts {
		if err := a.work(ctx, life, from, p); err != nil {
			return err
		}
		idle := time.Since(p.heard) >= pollFor
		if p.draft != nil && p.job == nil && (settle && idle || p.draft.old(a.options.FileAge, idle)) {
			a.publish(life, from, p)
		}
	}
	return a.answers(ctx)
}

// work archives the records of a partition that wait, unless a job runs.
func (a *archiver) work(ctx, life context.Context, from source, p *part) error {
	for p.job == nil && len(p.waiting) > 0 {
		r := p.waiting[0]
		switch {
		case r.Offset < p.next: // it is in a file that was found
		case p.draft == nil:
			a.begin(life, from, p, r)
			return nil
		default:
			if err := a.add(ctx, p.draft, r); err != nil {
				return err
			}
			p.next, p.draft.last = r.Offset+1, r.Timestamp
			if p.draft.warc.Size() >= a.options.FileBytes || p.draft.warc.Responses() >= a.options.FileResponses {
				a.publish(life, from, p)
			}
		}
		p.waiting = p.waiting[1:]
		p.bytes -= len(r.Value)
	}
	if len(p.waiting) == 0 {
		p.waiting = nil
	}
	return nil
}

// add adds a record to a draft. A record that cannot be archived is rejected.
func (a *archiver) add(ctx context.Context, d *draft, r *kgo.Record) error {
	if r.Topic == a.env.Names.Parsed {
		return a.addMetadata(ctx, d, r)
	}
	whole, reason, err := a.env.LoadBodyAsItCame(ctx, r)
	switch {
	case err != nil:
		return err
	case reason != "":
		return a.rejects.Reject(ctx, r, reason)
	}
	x := new(weftpb.Fetched)
	if err := codecs.UnmarshalFetched(whole.Value, x); err != nil {
		return nil // parse sends it to rejected
	}
	at := codecs.ParsedArchived{Partition: r.Partition, Offset: r.Offset}
	_, err = a.rejects.RejectOnPanic(ctx, r, func() error { return d.warc.Add(x, at) })
	return err
}

// addMetadata adds the metadata of a page.
func (a *archiver) addMetadata(ctx context.Context, d *draft, r *kgo.Record) error {
	page, err := codecs.DecodeParsedMetadata(r.Value)
	if err != nil {
		return a.rejects.Reject(ctx, r, reasonNoPage)
	}
	return d.warc.AddMetadata(warc.Metadata{ID: page.ID, URL: page.URL, Date: page.FetchedAt, JSON: page.JSON})
}

// begin asks for a file that begins with r, and begins a draft if there is none.
func (a *archiver) begin(life context.Context, from source, p *part, r *kgo.Record) {
	a.start(life, from, p, func(ctx context.Context) (func(owned bool), error) {
		head, found, err := a.files.find(ctx, from, r)
		if err != nil {
			return nil, err
		}
		if found {
			return func(bool) { p.next, p.commit = head.Next, head.Next }, nil
		}
		d, err := newDraft(head, a.packer, a.env.Dir)
		if err != nil {
			return nil, err
		}
		d.first, d.last = r.Timestamp, r.Timestamp
		return func(owned bool) {
			if p.draft = d; !owned {
				p.drop()
			}
		}, nil
	})
}

// publish publishes the draft of a partition.
func (a *archiver) publish(life context.Context, from source, p *part) {
	d := p.draft
	p.draft = nil
	d.head.Next = p.next
	a.start(life, from, p, func(ctx context.Context) (func(owned bool), error) {
		defer d.close()
		next, err := a.files.publish(ctx, d)
		return func(owned bool) {
			p.commit = next
			if next < p.next && owned { // another process published less: the rest is read again
				p.waiting, p.bytes = nil, 0
				a.client.SetOffsets(map[string]map[int32]kgo.EpochOffset{from.topic: {from.partition: {Epoch: -1, Offset: next}}})
			}
			p.next = next
		}, err
	})
}

// start runs a job of a partition, whose records wait meanwhile. The job returns a function. The
// archiver's goroutine calls it, and tells it whether the archiver still owns the partition.
func (a *archiver) start(life context.Context, from source, p *part, job func(context.Context) (then func(owned bool), err error)) {
	ctx, cancel := context.WithCancel(life)
	p.job = cancel
	a.running++
	a.jobs.Go(func() {
		defer cancel()
		then, err := job(ctx)
		a.done <- answer{from, p, then, err}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.wake()
	})
}

// answers takes the answers of jobs, and commits.
func (a *archiver) answers(ctx context.Context) error {
	for {
		select {
		case one := <-a.done:
			if err := a.answered(one); err != nil {
				return err
			}
		default:
			return a.commit(ctx)
		}
	}
}

func (a *archiver) answered(one answer) error {
	a.running--
	owned := a.parts[one.from] == one.part
	if one.err == nil {
		one.part.job = nil
		one.then(owned)
	}
	if one.err != nil || !owned { // the next owner repeats it
		if owned {
			return one.err
		}
		return nil
	}
	if one.part.paused {
		one.part.paused = false
		a.client.ResumeFetchPartitions(one.from.set())
	}
	return nil
}

// commit commits the offsets behind published files. If that fails, it tries again later. If the
// process ends before, the next owner finds the files.
func (a *archiver) commit(ctx context.Context) error {
	var records []*kgo.Record
	for from, p := range a.parts {
		if p.commit > 0 {
			records = append(records, &kgo.Record{Topic: from.topic, Partition: from.partition, Offset: p.commit - 1, LeaderEpoch: -1})
		}
	}
	if len(records) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	if err := a.client.CommitRecords(ctx, records...); err != nil {
		a.env.Logger.Warn("committing archived records failed; it is tried again", "error", err)
		return nil
	}
	for _, r := range records {
		a.parts[source{r.Topic, r.Partition}].commit = 0
	}
	return nil
}

const commitTimeout = 5 * time.Second

// finish publishes all drafts, until ctx ends.
func (a *archiver) finish(ctx context.Context) error {
	for ctx.Err() == nil {
		for from, p := range a.parts {
			p.waiting, p.bytes = nil, 0
			if p.draft != nil && p.job == nil {
				a.publish(ctx, from, p)
			}
		}
		if a.running == 0 {
			break
		}
		select {
		case one := <-a.done:
			if err := a.answered(one); err != nil && ctx.Err() == nil {
				return err
			}
		case <-ctx.Done():
		}
		a.forget()
	}
	return a.commit(ctx)
}

// onLost is called while the archiver polls.
func (a *archiver) onLost(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
	if slices.Contains(lost[a.env.Names.Fetched], 0) {
		a.stopChore()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for topic, partitions := range lost {
		for _, partition := range partitions {
			a.lost = append(a.lost, source{topic, partition})
		}
	}
}

// forget drops what belongs to partitions that were lost.
func (a *archiver) forget() {
	a.mu.Lock()
	lost := a.lost
	a.lost = nil
	a.mu.Unlock()
	for _, from := range lost {
		if p := a.parts[from]; p != nil {
			p.drop()
			delete(a.parts, from)
			if p.paused { // it may come back
				a.client.ResumeFetchPartitions(from.set())
			}
		}
	}
}

// close ends the jobs and drops the drafts. Their context has ended, or ends now.
func (a *archiver) close() {
	for _, p := range a.parts {
		p.drop()
	}
	go func() {
		a.jobs.Wait()
		close(a.done)
	}()
	for one := range a.done {
		if one.err == nil {
			one.then(false)
		}
	}
}
