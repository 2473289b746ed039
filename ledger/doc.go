// Package ledger runs event-sourced goka tables.
//
// A stateful stage (dedupe, schedule) is a goka processor whose only effect is
// one SetValue per input, and whose group table topic is the stage's output.
// What is written there is not a value but an event; the state of a partition
// is the fold of its valid events. One write both remembers and passes on, so
// no crash can do one without the other.
//
// # The life of a partition
//
//	opened     A scratch store is made from the last published checkpoint, or
//	           empty. (Storage.Open)
//	recovering goka replays the topic from the checkpoint's offset; fold applies
//	           the events that are valid.
//	claimed    The new owner appends a claim (group.Setup). The claim's offset
//	           plus one is its epoch. What lies between the recovery and the
//	           claim is folded; from here on nobody else's event is valid.
//	held       While Options.Held says so, the partition takes neither inputs nor
//	           timers. When that ends, and after a claim, its timers wait until
//	           what was written to its inputs meanwhile is read.
//	live       Each input is decided, folded and appended. The offset of an
//	           event is known before it is acknowledged, because the owner is
//	           alone: claim + 1, + 2, ...
//	poisoned   The first error of the writer or the store. Nothing is appended
//	           any more; goka's partition processor ends with the error, and the
//	           supervisor builds a new one that recovers.
//	closed     The writer is flushed, a last checkpoint is published.
//
// # Invariants
//
// An event is valid if and only if it names the latest claim before it and
// stands at the offset that it names. Folds drop the others, in the ledger and
// in every reader of it (see Reader). The offset guards the moment between the
// loss of an event and its owner learning of it: the producer may have accepted
// a later one.
//
// Acknowledged offsets are free of gaps. A gap means that somebody else wrote;
// the owner stops without committing, recovers and claims again.
//
// The ledger says where each input goes on, not the consumer group's commit:
// every event carries the highest folded offset of the inputs that moved.
// Commits are made from acknowledged events and only lag monitoring, trimming
// and the drained test read them.
//
// State on disk is a cache. A checkpoint is published only after its last event
// is acknowledged, and a store is never trusted to be anything else.
//
// # What happens at a crash
//
//	before the append               the input is delivered again and decided again
//	appended, not acknowledged      the event is in the log or not; recovery folds
//	                                what is there, the input's position tells
//	acknowledged, not checkpointed  replayed from the log
//	while publishing a checkpoint   its name is not yet valid; the older one holds
//	an old owner wakes up           its events name an older claim: dropped; its
//	                                first acknowledgement shows a gap: it stops
//
// # Checkpoints that travel
//
// With a Remote, each published checkpoint is sent to a bucket, one at a time a
// process, by a goroutine that no partition waits for. A checkpoint there is a
// manifest, written last, over objects named by their contents; the tables that
// two checkpoints share are sent once. The owner keeps the two newest that are
// complete, and those that an audit has pinned, and removes the rest.
//
// A partition that opens looks there first. It takes the newest checkpoint
// beyond its own that is of this cluster, topic and partition, within the bounds
// of the log, whose last event is the one in the log, whose contents and blocks
// have their checksums, and that opens. Any other is passed over for the one
// before, and in the end for the ledger itself.
//
//	killed while sending            objects without a manifest: the next owner
//	                                uses or removes them
//	the bucket is away              what is published waits, the newest of each
//	                                partition; the stage goes on
//	and a partition opens           it goes on from its own checkpoint or the
//	                                ledger; if that is trimmed, it tries again
//	a former owner sends late       it finds a later owner's checkpoint that fits
//	                                the ledger, and gives way
//	the log lost its end            a checkpoint of that end fits no more: its
//	                                offset is beyond the log, or the event there
//	                                is another; the next owner removes it
//	a former owner removes late     objects that a later one relies on may be
//	                                missing: found when it is sent, taken or audited
//
// Trimming a ledger asks an Auditor first: it folds the older of the two newest
// checkpoints up to the newer one and compares them key by key. A fold that
// needs what was trimmed ends with ErrTrimmed.
package ledger
