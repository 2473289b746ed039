// Package transfer moves a crawl that does not run: from the embedded broker to
// a cluster or back, from one cluster to another, and to another number of
// partitions. Export copies it to a folder, Import makes a crawl of that; the
// one that was exported is never changed.
//
// # What an export is
//
// A file for each partition of each topic, of records as they were, with their
// offsets, and a manifest, written last: definitions, what stages are paused,
// and for each file its checksum and where the stages that read it go on. For
// a ledger's inputs that is what the ledger says, for workers their commits.
//
//	deduped, scheduled           whole; a trimmed ledger is refused, since its
//	                             state cannot be told from what is left
//	seeds, discovered,           from where their reader goes on
//	normalized, visited
//	fetched                      all that is there: who takes over looks in it
//	                             for what was not reported
//	parsed, rejected             all, unless they are left out
//
// An export is one moment of the crawl: no stage has a member before and after,
// and no log has moved meanwhile.
//
// # What an import does
//
// Ledgers tell of offsets and partitions, which are others in the new crawl, so
// that records cannot be copied as they are, even where the number of partitions
// stays: logs begin at 0 again. The events that count are replayed, those of all
// old partitions in the order of their time and of each in its own, into the
// partitions of their domains:
//
//	claims, events that do not   left out; one claim begins each partition, and
//	count, and those that only   where an old partition had a new owner there is
//	tell gauges or positions     one again
//	epoch and offset             what they are in the new partition
//	positions                    none but one, at the end of scheduled: what of
//	                             deduped is read. Of other inputs nothing is,
//	                             since only what was not read is copied
//	gauges                       sums over domains: what an event changed in
//	                             those of its old partition it changes in those
//	                             of the new one
//	oldest, and ids of visits    made of the new offsets
//	everything about a domain    as it was: admissions, outcomes, rules, times
//
// In deduped, what schedule had read comes first, so that one position divides
// each partition. The state of a domain, the fold of its events, is the same key
// by key, but for the ids of visits (TestStatesAreTheSame); the new owners fold it
// again with the frontier's own Apply, which stops at gauges that do not add up.
//
// A visit that is out stays out, under its new id. Reports of it that schedule
// has not read, and exchanges of it that may not be reported, get that id, too;
// so fetch finds what of it is done, as after a crash, and makes the other
// requests. Reports of visits that are not out change nothing and are left out,
// and exchanges of them, which parse may still need, lose their id: it could be
// that of another visit now.
//
// Times are those of the wall clock and stay. A fetcher that takes the crawl over
// treats each domain as if it had been asked at that moment; a partition that
// ever held a URL is never taken for a new one.
//
// # Failure
//
// Export and Import may be killed at any moment. A folder without a manifest is
// no export. A crawl whose import has begun and not ended is ErrImporting to
// everybody (topics.BeginImport): it becomes a crawl with its last record, the
// definition. Until then ImportOptions.Again deletes what there is of it and
// begins anew. An import refuses a name that is taken, or topics that hold
// anything, and forgets what groups of that name committed in topics that are
// gone.
//
// Memory is bounded by the number of partitions and of visits that are out, not
// by the size of a crawl.
package transfer
