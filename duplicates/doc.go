// Package duplicates is an index of pages by their texts: which page of the same
// partition of parsed was the first with a text, or nearly the same one.
//
// # The index is a fold
//
// What is known of a partition is the fold of its log of parsed: nothing is in
// the index that is not written there, and the [Log] is read to make up for what
// is missing. The index is a cache on Pebble without a write-ahead log; beside
// what it knows it keeps how far it has read, and Pebble's tables hold both of the
// same moment, so that a process that is killed goes on from there. What it cannot
// read it throws away, and reads the log from its start.
//
// # The life of a page
//
//	judged → in flight → written at an offset → folded
//	                   ↘ not written: forgotten
//
// Pages of a partition are judged one after another, and each is handed to its
// writer before the next is judged: the order of judgements is the order of the
// log. Pages in flight are found like those that are folded. So what a page is
// called a duplicate of stands before it in the log, whenever the writer dies,
// and the log alone says which of two was first.
//
// # Invariants
//
//   - A page that is judged again, by the same id with the same text, is answered
//     as it was the first time, and is never its own duplicate.
//   - The first page with a text, and the first of each domain, are known for as
//     long as the log is: equal texts are always found.
//   - A page is a representative, which others may be nearly the same as, if no
//     other page of its domain was that for it. So what is near is near to one page
//     and not a link in a chain of small steps, and pages of a domain find each
//     other whatever other domains hold.
//   - A page that is at distance two or three from its representative is a follower.
//     Pages that have its very SimHash, as one month of a calendar has in each
//     year, are at distance one from it.
//   - Another page named is an earlier one: who follows the names ends at a page that
//     is no duplicate.
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
// A search looks at representatives that agree with the page in one of four bands
// of eight bins (Broder, Identifying and filtering near-duplicate documents, 2000), and
// counts the bins in which they differ. Of those that differ in three bins all agree in
// a band; in six, 94 of 100; in nine, which is the limit, 77. Searching Pebble for bands took 50 µs a page, and 800 when its tables did
// not fit into its cache; so the MinHashes of the partitions that the process has are
// in memory, in chains by band, 36 bytes for each representative, and read from Pebble
// when a partition is taken. Pebble is asked only for what was found. It is not asked for
// texts that are new, either, which is most of them: some 8 bytes for each text that
// is known tell which are. Judging and folding a page with a new text takes 4 µs of
// a core (16 when Pebble was asked for it), 10 µs a page if one of five is a
// duplicate.
//
// Records of parsed, and indexes, that were written before there were MinHashes are
// read as they are: their pages are found by their texts, and no page is nearly the
// same as one of them.
//
// # Owners
//
// Who gets a partition calls [Index.Take]: before the first judgement, or by
// [Index.Load], the log is read to its end. When offsets that are acknowledged have
// a gap, somebody else wrote meanwhile, and that part is read, too. Who gives a
// partition away in good order calls [Index.Release], which waits for what is in
// flight. An owner that was thought dead and writes late can make two pages each
// other's duplicates, in records that are there twice for the same reason; the first
// record of each page is right.
//
// A partition that was given away goes on where it was when it comes back. After
// [Options.Keep], an hour, it is no longer on disk, and would be read from the start
// of the log; that of one which an earlier life of the process had and this one has
// not, an hour after the start.
//
// # Failure
//
// An error of the log ends the judgement; it is tried again. An error of Pebble
// ends it, too, and the index is built anew, empty, for the next. Retention that
// cuts the log makes nothing wrong: pages that are not in the log are forgotten
// only by an index that is built anew.
package duplicates
