// Package erase removes pages from an archive and from copies of parsed.
//
//	reads    all files of the archive (package archive), its indexes and its table, and files of pages
//	writes   the same objects without the pages; erasures/, the log
//	decides  Selection: which records go
//
// # What happens to a file
//
// A tombstone takes the place of each record that goes (warc.Tombstone), so that no other record moves.
// If a record that stays is a revisit of one that goes, it moves to the end of the file with the payload,
// and others that referred to the same record follow it and refer to it. A file without records is deleted.
//
//	merged index, table ─▶ index of the file ─▶ file ─▶ files of pages ─▶ table, merged index
//	deleted, if they       replaced             replaced   replaced          made again
//	have the page
//
// # Failure
//
// Each step is one Put or Delete of package blob: an object is there in its old form or in its new one.
// The file is replaced after everything that is made of it. So a file that has the page is found again by
// the next run of the same command, which does all of its steps again, with the same bytes: names and
// times of tombstones are those of the unfinished erasure, which erasures/unfinished.json has. One by age
// also goes on with its own time and its own ages.
//
// That object is also what keeps out another erasure, which could put back a file that it has read
// before. A run that lives changes it every 2 s. Another run takes over what has not changed for
// DefaultPatience, and before each change of the archive a run asks whether it was taken over.
//
// Before a file is replaced, the new one is read on the local disk, because the old one is the only copy.
// At the end of a run everything is searched again. Remains of killed uploads are not listed, so that no
// search finds them: a run removes those that are older than blob.DeadUploadAge.
//
// # By age
//
// Expire is for the stage archive of a crawl that keeps pages for a time: the owner of its first partition calls
// it. The log tells it whether a day has passed. Files without a record that is too old are not read.
package erase
