// Package blob stores objects under slash paths, in a folder or in an S3 bucket: checkpoints for
// other machines, and data that is too large for a record.
//
// # What a Bucket promises
//
// An object is complete or does not exist. Put makes it visible atomically, under the final name,
// after its last byte is safe. Until then readers see the former object, or none. A Put that
// fails leaves nothing that readers can see. Objects may be replaced; a reader during the
// replacement gets one of the two.
//
// PutNew never replaces an object. It is the fence between two processes that write the same
// file: one of them wins, and the other one learns it.
//
// ErrNotExist means that there is no object, and no other error means that. Deleting an object
// that does not exist is not an error, so that two processes can clean up at the same time.
//
// # Failure
//
// A folder may have temporary files of a killed process. Their names begin with a dot, which no
// key does, and List leaves them out. An S3 server may have parts of an upload that was never
// completed. Sweep removes both; a lifecycle rule of the bucket also removes such parts. Readers
// need a checksum of their own to detect changed bytes. Errors name the operation and the key,
// and never have credentials, which come from the SDK's default chain.
package blob
