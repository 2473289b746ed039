// Package kept finds exchanges in an archive (package archive) by URL and time. It reads
// indexes and single records by range requests, and needs no brokers.
//
// [Merge] makes one sorted index of the indexes of all files.
//
// [Find] asks the merged index, and each index that is not in it, for its lines of the URL, by
// bisection: some ten requests of 16 KiB for an index of 20 MB. Of the lines it takes the one
// nearest to the time, and reads that member of its file. If the record is a revisit, it reads
// the payload of the record that it refers to, which is in the same file.
//
// Earlier versions gave some URLs other keys (warc.Keys). Indexes that have them are not changed: Find
// asks each index for both keys, and Merge copies the lines as they are, so that a merged index may have
// both.
//
// [Load] has the places of all responses in memory, for programs that ask for many URLs.
package kept
