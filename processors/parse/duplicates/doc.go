// Package duplicates is an index of pages by their texts. It answers which page of a
// partition of parsed was the first with a text, or with nearly the same text.
//
// # The index is a fold
//
// What the index knows of a partition is the fold of the partition's log of parsed:
// everything in the index is in the log, and what is missing in the index is read from
// the [Log]. The index is a cache on Pebble without a write-ahead log. It also stores how
// far it has read. Pebble writes both to its tables together, so that a process that was
// killed goes on from there. An index that cannot be read is thrown away, and the log is
// read from its start.
//
// # The life of a page
//
//	judged → in flight → written at an offset → folded
//	                   ↘ not written: forgotten
//
// Pages of a partition are judged one after another. [Index.Judge] returns a [Flight] that
// holds the partition until the page is given to its writer. So the order of judgements is the
// order of the log. Pages in flight are found like folded pages. So the original of a duplicate
// is before it in the log, whenever the writer dies, and the log alone says which of the two
// was first.
//
// # Invariants
//
//   - A page that is judged again, with the same id and the same text, gets the same
//     answer, and is never its own duplicate.
//   - The first page with a text, and the first page of each domain with it, are known for
//     as long as the log is: equal texts are always found.
//   - A page is a representative, to which other pages may be nearly the same, if it is not
//     a duplicate of a page of its own domain. So a page is near to one page, and not a
//     link in a chain of small steps; and pages of a domain find each other whatever other
//     domains have.
//   - A page at distance two or three from its representative is a follower. Pages with
//     exactly its SimHash are at distance one from it, as a month of a calendar is from
//     the same month of another year.
//   - A duplicate names an earlier page: if you follow the names, you end at a page that is not a
//     duplicate.
//
// # Keys and bands
//
// Each key begins with the partition, four bytes.
//
//	n                → offset that the fold goes on with
//	h HASH           → entry of the first page with a text
//	d HASH DOMAIN    → entry of the first of another domain
//	m NUMBER         → MinHash, domain and key of a representative
//	s SIM DOMAIN     → key of a follower
//
// A search looks at the representatives that agree with the page in one of four bands of
// eight bins (Broder, Identifying and filtering near-duplicate documents, 2000), and counts
// the bins in which they differ. Of texts that differ in three bins all agree in a band; in
// six, 94 of 100; in nine, which is the limit, 77.
//
// To search Pebble for bands took 50 µs a page, and 800 µs when its tables did not fit into
// its cache. So the MinHashes of the process's partitions are in memory, in chains by band,
// 36 bytes for each representative; they are read from Pebble when a partition is assigned.
// Pebble is read only for pages that were found. It is not read for new texts, which are
// most: about 8 bytes of memory for each known text tell which texts are new. To judge and
// fold a page with a new text takes 4 µs of a core (16 µs when Pebble was read for it), and
// 10 µs a page if one of five is a duplicate. A page with a new text takes about 140 bytes
// of disk. To read 32,500 pages of 30 KiB took 1.3 s on two cores.
//
// Records of parsed and indexes of versions before MinHash are read as they are. Their pages are
// found by equal texts only.
//
// # Owners
//
// A process that gets a partition calls [Index.OnAssigned]. Before the first judgement, or in
// [Index.Load], the log is read to its end. If acknowledged offsets have a gap, another process
// wrote meanwhile, and that part of the log is read, too. A process that hands a partition over
// calls [Index.OnRevoked], which waits for the pages in flight. An owner that counts as dead
// and writes late can make two pages duplicates of each other. Their records are then there
// twice, and the first record of each page is right.
//
// A partition that comes back goes on from its state on disk. After [Keep], an hour, a
// partition of another process is removed from disk; if it comes back later, the log is
// read from its start. The hour of a partition that an earlier life of the process had
// begins with the process.
//
// # Failure
//
// An error of the log ends the judgement, which is tried again. An error of Pebble ends it,
// too, and the next judgement begins with a new, empty index. When retention cuts the log,
// pages that are not in the log any more are forgotten only if the index is built anew.
package duplicates
