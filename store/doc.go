// Package store keeps objects under slash paths, in a folder or in an S3
// bucket: checkpoints that travel between machines, and whatever else is too
// large for a record.
//
// # What a Bucket promises
//
// An object is whole or not there. Put makes it visible at once, under the
// final name, after its last byte is safe; a reader sees the former object, or
// none, until then, and a Put that fails leaves no trace that a reader could
// find. Objects may be replaced; whoever reads meanwhile gets one of the two.
//
// What is not there is ErrNotExist, and nothing else is. Deleting what is not
// there is no error, so that two may clean up at once.
//
// # Failure
//
// A folder may hold temporary files of a process that was killed; their names
// begin with a dot, which no key does, and nobody lists them. An S3 server may
// hold parts of an upload that was never completed. Sweep removes both; so does,
// of parts, a lifecycle rule of the bucket. Whether the bytes are those that were
// put, years and disks later, is for a checksum of the reader's own to tell. Errors name what was being done and the key, and never
// hold credentials, which come from the SDK's default chain.
package store
