// Package ledger runs the stages that remember: dedupe and schedule.
//
// Such a stage is a goka processor whose table topic, the ledger, is the stage's
// output. For each input the stage appends at most one record. That record is an
// event, not a value: the state of a partition is the fold of its valid events.
// One write both remembers and passes on, so no crash can do one without the other.
//
// A stage is a Processor: its topics, and a State that decides and folds. Run runs
// it. Each partition has a processor of goka and a client of franz-go of its own; the
// client reads the inputs and writes the events.
//
// # The way of a record
//
//	goka's callback    table.take
//	decide             Partition.Answer asks State.Decide for the body of an event
//	fold               Partition.FoldNext gives the event to State.Apply
//	append             goka's SetValue leads to producer, and that to Writer.Append
//	acknowledged       the positions in the event are committed
//
// Timers go the same way, as messages between the records (see ticks).
//
// # The life of a partition
//
//	opened     The store is made from the last published checkpoint, or empty.
//	           (Storage.Open)
//	recovering goka replays the topic from the checkpoint's offset. The valid events
//	           are folded. The store gathers the writes, at most 2 MiB, and reads
//	           them from there, until the partition is claimed.
//	claimed    The new owner appends a claim. The claim's offset plus one is its
//	           epoch. The owner folds what lies between the recovery and the claim.
//	           From here on, only its events are valid.
//	paused     While Options.Paused says so, the partition takes neither inputs nor
//	           timers. After a pause, and after a claim, the timers wait until the
//	           inputs are read up to the ends that they have then.
//	live       Each input is decided, folded and appended. The owner is alone, so
//	           it knows the offset of an event before the event is acknowledged:
//	           claim + 1, claim + 2, and so on.
//	poisoned   The writer or the store has failed. Nothing is appended any more.
//	           goka's partition processor ends with the error, and the supervisor
//	           builds a new one, which recovers.
//	closed     The writer is flushed, and a last checkpoint is published.
//
// # Rules
//
// Each rule has a test of its name.
//
//  1. Decide, then fold (TestRule1DecideThenFold). A decision changes nothing.
//     Apply is deterministic. Live processing and recovery call the same Apply.
//  2. The writer is fail-stop (TestRule2WriterIsFailStop). After its first error
//     nothing is appended until the partition is recovered. Acknowledged offsets
//     have no gaps: a gap means that another process wrote. Then the owner stops
//     without committing, recovers and claims again.
//  3. The ledger, not the group's commit, says where each input goes on
//     (TestRule3LedgerSaysWhereToGoOn). Each event carries the positions that
//     moved: the highest folded offset of an input, and the timestamp of the record
//     there. Positions are committed when their event is acknowledged. Lag
//     monitoring, trimming and the drained test read the commits.
//  4. The local store is a cache (TestRule4StoreIsACache). A checkpoint is published
//     only after its last event is acknowledged. It holds the id of its topic, the
//     checksum of that event, and the sizes and checksums of its files. A
//     checkpoint that does not fit in every respect is discarded.
//  5. Fencing by claim (TestRule5FencingByClaim). An event is valid if and only if
//     it names the latest claim before it and stands at the offset that it names,
//     and the same is true of each record between that claim and it. Every fold
//     and every other reader of a ledger drops the other events (see EventReader).
//     The offset is needed because a producer may accept a later event before it
//     learns that an earlier one is lost.
//  6. Ledgers are kept whole (TestRule6LedgersAreKeptWhole). A fold takes every offset. A
//     missing one is ErrTrimmed; it is never skipped.
//  7. A damaged event is fatal and named (TestRule7DamageIsFatal). Damage is proven, never
//     guessed. One of these proves it: an event is at the offset that it names, and its
//     checksum is wrong; a later event of the same owner says that the event was acknowledged,
//     and another record is in its place; a claim is missing that later events name; a valid
//     event does not fit the state. A corrupt input is not fatal: it goes to rejected.
//  8. A record that is not an event was written by another program. Every reader
//     skips it and counts it (TestRule8StrangersArePassedOver). It takes an offset,
//     so the owner's next append fails, as after another owner's event: the owner
//     recovers and claims again. A copied event has the same effect, changed or
//     not, because it does not stand where it says. A copied claim fences the owner
//     once.
//
// It follows that each input counts once, whatever happened, and that the state
// equals, key by key, the fold of the whole ledger (TestRecoveryFromAnEmptyDisk; of
// dedupe and schedule in a crawl: crawl.TestStatesAreTheFoldOfTheirLedgers).
//
// # Panics
//
// A panic of State.Decide rejects the input with the reason "panic", because a
// decision changes nothing. A panic of a fold, a timer or a snapshot is fatal: the
// state that a broken fold leaves is unknown, and a timer would panic again.
// Partition.recovered is the one place that recovers.
//
// # Crashes
//
// The tests run the real runner, goka and franz-go against a broker that refuses, delays or loses
// records on command. Processes die by kill -9 and sleep by SIGSTOP.
//
// An event:
//
//	before the append, or appended  The input is delivered again, or its event is
//	and not acknowledged            there: the position tells. TestKilled
//	acknowledged, and not applied   Recovery folds the event. TestKilled
//	or not committed
//	committed, and in no            The event is replayed. TestKilled,
//	checkpoint                      TestCheckpointInTheMiddle
//	rejected by the broker          The writer is poisoned. The next life decides
//	                                again. TestBrokerAnswers
//	applied, and the answer lost    The idempotent producer asks again and gets the
//	                                same offset. TestBrokerAnswers
//	its input delivered again       The offset is not beyond the position: skipped.
//	                                TestRedeliveredInputIsSkipped
//	inputs that make no event       An event carries the position when the input
//	                                pauses. TestInputsWithoutEvents
//
// A checkpoint:
//
//	behind                          The rest is replayed. TestCheckpointInTheMiddle
//	damaged, torn, missing, or of   Discarded; the whole ledger is replayed.
//	another topic                   TestRule4StoreIsACache
//	damage that is read late        The store's first error ends the partition, which
//	                                discards the checkpoint.
//	                                TestDamageIsNeverTakenForState
//	half made or half published     Its name is not valid yet. The older one holds.
//	                                TestRule4StoreIsACache
//
// Owners:
//
//	two at once                     The claim of the second ends the validity of the
//	                                first one's events. An owner that finds a gap asks
//	                                the group whether the partition is still its own,
//	                                and recovers. TestTwoOwnersAtOnce
//	an old one wakes up             The same, whether its append was delayed, is sent
//	                                again, or was served. TestOldOwnerWakes
//	a claim written late            What lies between recovery and claim is folded
//	                                first. TestClaimWrittenLate
//	a claim of a dead owner         It fences the owner at work, which claims again.
//	                                TestClaimOfTheDeadComesLate
//	another program writes          The same. TestRule8StrangersArePassedOver
//	a rebalance during recovery     Nothing is claimed. The process that gets the
//	                                partition recovers it.
//	                                TestRecoveryInterruptedByRebalance
//	a rebalance that takes long     The partitions go on.
//	                                TestMembersWorkWhileTheGroupWaits
//	killed, and back in its session It has its partitions again at once.
//	                                TestStaticMemberComesBack
//
// Logs:
//
//	input trimmed beyond the        ErrInputLost, at the start and while running.
//	position                        TestInputExpired
//	input ends before the position  Embedded: a reset event goes on where the log is
//	                                intact. On a cluster: ErrInputLost.
//	                                TestInputCutShort
//	input cut and written again     The record at the position has another timestamp.
//	                                As above. TestInputOffsetsReused
//	ledger cut and written again    The event at a checkpoint's offset is another one:
//	                                the checkpoint is discarded.
//	                                TestLedgerOffsetsReused
//	ledger trimmed under recovery   ErrTrimmed. TestRule6LedgersAreKeptWhole
//
// # Assumptions
//
// The broker keeps what it acknowledges to acks=all, at its offset, until it is told
// to trim. Offsets have no gaps. Appends of an idempotent producer are neither
// doubled nor reordered. An embedded broker keeps all this when the process is
// killed. A power cut may take the ends of its logs; before anything is written, the
// commits are then set back to these ends (see package broker), so that below the
// commit an input has only records that were folded. Records between the commit and
// the cut are decided twice, and a stage must not mind that for records that its
// ledger does not hold. If a lost event's input is still there, it is decided again.
// If the input was consumed and trimmed, the stage on an embedded broker goes on
// without it and says so (TestALedgerThatLostItsEndGoesOn); on a cluster it ends
// with ErrInputLost.
//
// The disk keeps a renamed file when the process is killed. Nothing is assumed after
// a power cut, and no sync is waited for: checksums find what is wrong. Tables have
// checksums in each block. Pebble takes damage in a MANIFEST for its end and would
// silently open an older state, so the checkpoint has checksums of the small files.
//
// Nothing is assumed about the clock. Timers are decisions like others.
//
// # Costs
//
// A replay gathers its writes, so that keys which every event reads and writes stay in
// memory. One core replays this many events a second (without gathering in
// parentheses): 860,000 that read and write one of 4,096 long keys (170,000); 400,000
// that each mark a new URL (290,000); 80,000 when each key was last seen 100,000 events
// ago (58,000); 130,000 of a real crawl's scheduled, with some 220 bytes an event
// (84,000).
//
// # Checkpoints in a bucket
//
// With a Remote, each published checkpoint is sent to a bucket: one at a time per
// process, by a goroutine that no partition waits for. A checkpoint there is a
// manifest, written last, and objects named by their contents; tables that two
// checkpoints share are sent once. The owner keeps the two newest complete
// checkpoints and those that an audit has pinned, and removes the others.
//
// A partition that opens looks there first. It takes the newest checkpoint beyond its
// own that passes these checks: it is of this cluster, topic and partition; it is
// within the bounds of the log; its last event is the one in the log; its contents and
// blocks have their checksums; and it opens. If one fails, the one before it is tried,
// and in the end the ledger itself is replayed.
//
//	killed while sending            There are objects without a manifest. The next
//	                                owner uses or removes them.
//	the bucket is away              Published checkpoints wait, the newest of each
//	                                partition. The stage goes on.
//	and a partition opens           It goes on from its own checkpoint or the ledger.
//	                                If the ledger is trimmed, it tries again.
//	a former owner sends late       It finds a later owner's checkpoint that fits the ledger, and stops.
//	the log lost its end            A checkpoint of that end does not fit: its offset
//	                                is beyond the log, or the event there is another
//	                                one. The next owner removes it.
//	a former owner removes late     Objects that a later checkpoint needs may be
//	                                missing. That is found when it is sent, taken or
//	                                audited.
//
// Before a ledger is trimmed, an Auditor folds the older of the two newest checkpoints
// up to the newer one and compares them key by key. A fold that needs trimmed events
// ends with ErrTrimmed.
package ledger
