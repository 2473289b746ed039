// Package dedupe tells URLs never seen before from those already known, for
// one partition. Nothing here knows Kafka, clocks or files.
//
// # States
//
// A URL is either unknown or seen; it becomes seen when an event that names it
// is folded with [Set.Apply], and never becomes unknown again. Three layers
// hold the same fact at different prices:
//
//  1. a small direct-mapped cache of fingerprints known to be seen: on the web
//     about 39 of 40 links are repeats, most of them of the same few URLs;
//  2. a Bloom filter in memory, growing by slices: its "no" is final;
//  3. the exact set of 128-bit fingerprints in the Store, asked only when the
//     filter says "maybe".
//
// # Invariants
//
//   - The exact set is the truth: the filter and the cache hold nothing that
//     the exact set does not hold.
//   - The filter holds everything that the exact set holds, so its "no" is
//     right.
//   - A false positive of the filter costs one look in the Store and never a
//     URL. Two different URLs of one fingerprint would: at 10⁹ URLs the odds
//     of a single such pair are about 10⁻²¹.
//   - [Set.Unseen] decides and changes no answer; [Set.Apply] folds and is
//     deterministic and idempotent.
//
// # Failure
//
// A [state.Store] has a sticky first error and answers "absent" after it; whoever owns
// the partition must look at that error before an event decided meanwhile is
// written. The filter and the cache are rebuilt from the Store by [Open] and
// are never persisted: they cannot disagree with it after a crash.
package dedupe
