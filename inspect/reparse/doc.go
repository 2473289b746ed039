// Package reparse parses again what an archive keeps, without a request.
//
//	reads    the files and indexes of an archive (package archive); a file without an index is read twice
//	writes   a generation: a file of pages, texts or metadata for each file of the archive
//	decides  nothing about pages: the function of the stage parse does (parse.New)
//
// # A generation
//
// A generation is a folder or a bucket. The file STEM.warc.gz of the archive becomes STEM.jsonl, or
// STEM.jsonl.gz, with a line for each page, in the order of the archive. The line is a record of
// parsed. Other formats are STEM.parquet, STEM.warc.wet.gz and STEM.warc.wat.gz (Format). Pages may be
// divided among folders (Partition), or have objects of their own (Objects); then done/STEM.json is
// written last. generation.json says with which version and which settings the generation was made.
//
// # Failure
//
// A file of the generation is a draft without a name until it is complete. Then it is published with
// PutNew of package blob: it is there whole or not at all, and never twice. A file that is there is
// not made again. So there is no state besides the files: a process that was killed loses the drafts
// of its open files, and any process makes these files later. Two processes that make the same file
// make the same bytes, and the second one drops them.
//
// A record of the archive that has no page is counted with the reason (Outcome). A file that cannot
// be read ends the run with an error. The other files stay as they are.
//
// # Bounds
//
// Two files of the archive are open at a time. Each has its index in memory, about 100 bytes for a
// response. Payloads and decoded bodies on their way are bounded by Options.InFlight and one body for
// each file (seat), and payloads that later records of the file refer to by keptBytes.
package reparse
