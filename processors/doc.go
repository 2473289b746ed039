// Package processors is the loop as a table: [Loop] has a row for each stage, with
// the topics that it reads and writes and the functions that run it. The folders
// beside it are the stages, in the order of the loop:
//
//	normalize   seeds, discovered → normalized              worker
//	dedupe      normalized → deduped                        ledger
//	schedule    deduped, visited → scheduled                ledger
//	fetch       scheduled → fetched, visited                follower of scheduled
//	parse       fetched → parsed, discovered                worker
//	archive     parsed → JSON lines; fetched → WARC files   sinks, behind the loop
//
// What one stage alone uses lies below that stage: the scope of a crawl below
// normalize, the frontier below schedule, the HTTP client below fetch. What stages
// share is in internal/stage, and the ledgers are in package ledger.
//
// Every stage delivers at least once: a crash repeats work and loses no work. A record
// that a stage cannot use goes to the topic rejected, and the stage goes on.
package processors
