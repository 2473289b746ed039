// Package archive writes what a crawl fetched to files.
//
//	reads    fetched, for WARC files (Run); parsed, for their metadata (Run) and for JSON
//	         lines (PageSink)
//	writes   files; rejected, for records that do not belong into them
//	decides  package warc and package jsonl, what a record is in the files; Quota,
//	         when the crawl has enough pages
//
// # The stage archive
//
// Run is a consumer group on fetched and parsed. It writes a file at a time for each
// partition of each of them, into a bucket (package blob). Records of fetched become exchanges,
// and records of parsed become metadata of pages:
//
//	first record of a file ─▶ is there a file with this first record? ─yes─▶ go on behind it
//	                                        │ no
//	                                        ▼
//	records ─▶ draft on the local disk ─▶ full, old or at an end: cut
//	        ─▶ index published ─▶ file published, if there is none of its name ─▶ offset committed
//
// A file is named by the crawl, the topic's id, the partition and the offset of its first
// record, and .meta if it has metadata. It says in its head where it ends (warc.Head). So the files of a partition are a
// chain: each begins where the one before ends, because the stage begins a file at a commit
// or behind a file that it has found.
//
// # Failure
//
// A draft has no name in the file system: it ends with its process. Its records are read again:
// they were not committed, and fetched is only trimmed up to the commit of this group. parsed is
// kept for its users: metadata that is deleted before it was read is missing.
//
// A process that dies before the file is published leaves at most an index, which the next
// owner replaces or deletes. A process that dies between publishing and the commit leaves a
// file. The next owner computes the same name, finds the file and goes on behind it. Two
// processes that believe that they own a partition compute the same name, too. PutNew of
// package blob lets one of them win. The other one drops its draft and goes on behind the file.
// So no exchange is missing and none is in two files. Only erasures
// (package erase) change a file that is there.
//
// A power failure of the machine of an embedded broker can cut the log of fetched. Then new
// records may get the offsets of archived records. The head identifies the first record by its
// checksum: a file with the same name and another first record is kept, and the new file gets a
// number in its name. So does a file whose name the bucket refuses although it has no such file.
//
// While the bucket does not work, the stage waits, and reports it as its trouble. Records of a
// partition wait while its file is published. If they reach 4 MiB, the partition is not read. So
// there is never more than one draft of a partition.
package archive
