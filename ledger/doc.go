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
//	           What it writes is gathered, 2 MiB a partition at most, and read
//	           from there, until what lies before the claim is folded.
//	claimed    The new owner appends a claim (claimer.Setup). The claim's offset
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
// # Rules
//
// Each has a test of its name, and those of the crash points below.
//
//  1. Decide, then fold (TestRule1DecideThenFold). A decision changes nothing.
//     Apply is deterministic; live processing and recovery run the same one.
//  2. The writer is fail-stop (TestRule2WriterIsFailStop). After its first
//     error nothing is appended until the partition is recovered anew, and
//     acknowledged offsets are free of gaps: a gap means that somebody else
//     wrote. The owner stops without committing, recovers and claims again.
//  3. The ledger says where each input goes on, not the group's commit
//     (TestRule3LedgerSaysWhereToGoOn). Events carry the highest folded offset
//     of the inputs that moved, and the timestamp of the record there. Commits
//     are made from acknowledged events; lag monitoring, trimming and the
//     drained test read them.
//  4. The local store is a cache (TestRule4StoreIsACache). A checkpoint is
//     published only after its last event is acknowledged. It names its topic
//     and the checksum of that event, and the sizes and checksums of its files.
//     What does not fit in every respect is discarded; a store is never
//     trusted to be anything else.
//  5. Fencing by claim (TestRule5FencingByClaim). An event is valid if and only
//     if it names the latest claim before it and stands at the offset that it
//     names, and so does each record between that claim and it. Folds drop the
//     others, in the ledger and in every reader of it (see Reader). The offset
//     guards the moment between the loss of an event and its owner learning of
//     it: the producer may have accepted a later one.
//  6. Ledgers are kept whole (TestRule6LedgersAreKeptWhole). A fold takes each
//     offset or none: one that is missing is ErrTrimmed, never passed over.
//  7. A damaged event is fatal and named (TestRule7DamageIsFatal). Damage is
//     proven, never guessed: an event stands where it says, and its checksum is
//     wrong; a later event of its owner says that it was acknowledged, and
//     something else stands there; a claim is missing that later events name; or
//     an event that counts does not fit the state. A corrupt input goes to
//     rejected.
//  8. A record that is no event was written by somebody else. It is passed over
//     and counted (TestRule8StrangersArePassedOver), by every reader. Since it
//     takes an offset, it ends what its owner can append, as another owner's
//     event does: the owner recovers and claims again. A copied event does the
//     same, because it does not stand where it says, whether it was changed or
//     not; so does a copied claim, which fences the owner once.
//
// From these follows what the package is for: whatever happened, each input
// counts once, and the state equals, key by key, the fold of the ledger from
// nothing (TestRecoveryFromAnEmptyDisk; of dedupe and schedule in a crawl:
// crawl.TestStatesAreTheFoldOfTheirLedgers).
//
// # What happens at a crash
//
// The tests run the real runner, goka and franz-go, against a broker that
// refuses, holds or loses what it is told to. Owners that die are processes
// that are killed with kill -9; those that sleep get SIGSTOP.
//
// On the way of an event:
//
//	before the append, or appended  the input is delivered again, or its event is
//	and not acknowledged            there: the position tells. TestKilled
//	acknowledged, not applied       nothing in memory counts; recovery folds it.
//	or not committed                TestKilled
//	committed, not in a checkpoint  replayed from the log. TestKilled,
//	                                TestCheckpointInTheMiddle
//	rejected by the broker          poisoned; the new life decides again.
//	                                TestBrokerAnswers
//	applied, acknowledgement lost   the idempotent producer asks again and gets
//	                                the same offset. TestBrokerAnswers
//	input redelivered               at or below the position: skipped.
//	                                TestRedeliveredInputIsSkipped
//	inputs without events           an event carries the position when the input
//	                                pauses. TestInputsWithoutEvents
//
// A checkpoint that is
//
//	behind                          the rest is replayed. TestCheckpointInTheMiddle
//	damaged, torn, missing, or      discarded, and all is replayed.
//	foreign                         TestRule4StoreIsACache
//	damaged where it is read late   the store's first error ends the partition,
//	                                which discards it: no byte of it passes for
//	                                another state. TestDamageIsNeverTakenForState
//	half made or half published     its name is not yet valid; the older one
//	                                holds. TestRule4StoreIsACache
//
// Owners:
//
//	two at once                     the claim of the second ends the validity of
//	                                the first's events. An owner that finds a gap asks
//	                                the group whether the partition is still its own,
//	                                and recovers. TestTwoOwnersAtOnce
//	an old one wakes up             the same, whether its append was held, is sent
//	                                again, or was served. TestOldOwnerWakes
//	a claim written late            what lies between recovery and claim is
//	                                folded first. TestClaimWrittenLate
//	a claim of the dead             fences the owner at work, which claims again.
//	                                TestClaimOfTheDeadComesLate
//	another program writes          the same. TestRule8StrangersArePassedOver
//	a rebalance during recovery     nothing is claimed; whoever gets the partition
//	                                recovers it. TestRecoveryInterruptedByRebalance
//	a rebalance that takes long     the partitions go on.
//	                                TestMembersWorkWhileTheGroupWaits
//	killed, and back in its session its partitions are its own at once.
//	                                TestStaticMemberComesBack
//
// Logs:
//
//	input trimmed beyond the        ErrInputLost, at the start and while running.
//	position                        TestInputExpired
//	input ends before the position  embedded: a reset event goes on where the log
//	                                is intact; on a cluster ErrInputLost.
//	                                TestInputCutShort
//	input cut and written again     the record at the position has another
//	                                timestamp: as above. TestInputOffsetsReused
//	ledger cut and written again    the event at a checkpoint's offset is another:
//	                                discarded. TestLedgerOffsetsReused
//	ledger trimmed under recovery   ErrTrimmed. TestRule6LedgersAreKeptWhole
//
// # What is assumed
//
// Of the broker: what it acknowledges to acks=all it keeps, at its offset, until
// it is told to trim; offsets have no gaps; appends of an idempotent producer
// are neither doubled nor reordered. An embedded broker keeps them when the
// process is killed; a power cut may take the ends of its logs. Commits are
// then taken back to the ends that it finds, before anybody writes (see package
// broker), so that below the commit an input is what was folded. Between the
// commit and the cut records are decided twice: a stage that reads what is not
// in its ledger must not mind. What a lost event had decided is
// decided anew, if its input is still there; if that was consumed and trimmed, an
// embedded broker's stage goes on without it and says so
// (TestALedgerThatLostItsEndGoesOn), and a cluster's ends with ErrInputLost.
//
// Of the disk: a file that was renamed is there after the process is killed.
// Nothing is assumed after a power cut, and no sync is waited for: checksums
// find what is wrong. Tables have them in each block. Pebble takes damage in a
// MANIFEST for its end and would open an older state without a word, therefore
// the small files have checksums in the checkpoint.
//
// Of the clock: nothing that counts. Timers are decisions like others.
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
