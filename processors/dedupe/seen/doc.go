// Package seen tells new URLs from those that the crawl knows, for one partition. It does not know
// Kafka, clocks or files.
//
// # States
//
// A URL is unknown or seen. It becomes seen when [Set.Apply] folds an event that names
// it, and stays seen for ever. Three layers hold the same fact at different prices:
//
//  1. a small direct-mapped cache of fingerprints of seen URLs: on the web about 39 of
//     40 links are repeats, most of them of the same few URLs;
//  2. a Bloom filter in memory, growing by slices: its "no" is final;
//  3. the exact set of 128-bit fingerprints in the store, which is read only when the
//     filter says "maybe".
//
// # Invariants
//
//   - The exact set is the truth. The filter and the cache hold nothing that it does not
//     hold.
//   - The filter holds everything that the exact set holds, so its "no" is right.
//   - A false positive of the filter costs one read of the store and never a URL. Two
//     different URLs with one fingerprint would cost a URL: at 10⁹ URLs the odds of a
//     single such pair are about 10⁻²¹.
//   - [Set.Unseen] decides and changes no answer. [Set.Apply] folds and is deterministic
//     and idempotent.
//
// # Failure
//
// A [kv.Store] keeps its first error and answers "absent" after it. The owner of the
// partition must check the error before it writes an event. [Open] rebuilds the filter
// and the cache from the store. They are never stored, so they cannot disagree with it
// after a crash.
package seen
