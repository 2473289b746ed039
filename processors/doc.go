// Package processors is the loop as a table: [Loop] has a row for each stage, with
// the topics that it reads and writes and the functions that run it. The folders
// beside it are the stages, in the order of the loop:
//
//	normalize   seeds, discovered → normalized   worker
//	dedupe      normalized → deduped             ledger
//	schedule    deduped, visited → scheduled     ledger
//	fetch       scheduled → fetched, visited     follower of scheduled
//	parse       fetched → parsed, discovered     worker
//	archive     fetched, parsed → WARC files     archiver, behind the loop
//
// The folder archive also has what [topics.Pages] does: weft crawl writes the records of parsed
// as JSON lines (archive.PageSink). This sink is not a stage, and not in the table.
//
// A package below a stage has what this stage decides or does: the frontier is below schedule,
// and the HTTP client is below fetch. Other stages may use its pure rules: dedupe uses the scope
// of a crawl (normalize/scope), normalize and parse use the rules of traps (dedupe/traps), and
// parse uses the rules of variants (dedupe/variants). What stages share is in internal/stage,
// and the ledgers are in package ledger.
//
// Every stage delivers at least once: a crash repeats work and loses no work. A record
// that a stage cannot use goes to the topic rejected, and the stage goes on.
package processors
