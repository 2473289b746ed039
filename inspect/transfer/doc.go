// Package transfer moves a crawl that does not run: from the embedded broker to a cluster
// or back, from one cluster to another, and to another number of partitions. Export copies
// the crawl to a folder, Import makes a crawl from the folder. The exported crawl does not
// change.
//
// # What an export is
//
// An export has a file for each partition of each topic, with unchanged records and their
// offsets. The manifest is written last. It has the definitions, the paused stages, and for
// each file its checksum and the offsets at which its readers go on: for the inputs of a
// ledger its positions, for workers their commits.
//
//	deduped, scheduled           complete; a trimmed ledger is refused, because the
//	                             rest of it does not have its state
//	seeds, discovered,           from where their reader goes on
//	normalized, visited
//	fetched                      all: a takeover looks in it for exchanges that were
//	                             not reported
//	parsed, rejected             all, unless they are left out
//
// An export is one moment of the crawl: no process runs a stage before and after it, and
// no log changes meanwhile.
//
// # What an import does
//
// Ledgers name offsets and partitions, which are different in the new crawl, so records
// cannot be copied unchanged. That is so even if the number of partitions stays, because
// logs begin at 0 again. The valid events are replayed into the partitions of their
// domains: events of one old partition in order, events of several in the order of their
// time.
//
//	claims, invalid events,      left out; one claim begins each partition, and there
//	events with only gauges or   is a claim again where an old partition had a new
//	positions                    owner
//	epoch and offset             those of the new partition
//	positions                    only one, at the end of scheduled: the position in
//	                             deduped. Nothing of the other inputs is read, because
//	                             only records that were not read are copied
//	gauges                       sums over domains: an event changes the gauges of its
//	                             new partition as it changed those of the old one
//	oldest, and ids of visits    made of the new offsets
//	everything about a domain    unchanged: admissions, outcomes, rules, times
//
// In deduped the events that schedule had read come first, so that one position divides
// each partition. The state of a domain, the fold of its events, is the same key by key,
// except for the ids of visits (TestStatesAreTheSame). The new owners fold it again with
// the frontier's own Apply, which stops at wrong gauges.
//
// A visit that is out stays out, under its new id. Reports of it that schedule has not
// read, and exchanges of it that may not be reported, get the new id too. So fetch finds
// the exchanges that were made, as after a crash, and makes the other requests. Reports of
// visits that are not out have no effect and are left out. Exchanges of such visits, which
// parse may still need, lose their id, because another visit may have it now.
//
// Times are wall-clock times and do not change. A fetcher that takes the crawl over waits
// for each domain as if there had been a request at that moment. A partition that ever had
// a URL never counts as new.
//
// # Failure
//
// Export and Import may be killed at any moment. A folder without a manifest is not an
// export. All commands report ErrImporting for a crawl whose import has begun and not ended
// (topics.BeginImport). It becomes a crawl with its last record, the definition. Until then
// ImportOptions.Again deletes it and begins again. An import refuses a name that is taken
// and topics with records, and deletes the commits of that name's groups.
//
// Memory is bounded by the number of partitions and of visits that are out, not by the size
// of the crawl.
package transfer
