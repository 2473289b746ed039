// Package bodies keeps the bodies of exchanges that are too large for a record
// in an object store, and the record keeps a reference: a claim check.
//
// # Life of a body
//
//	fetch:   object is written ─▶ record in fetched, with the reference ─▶ acknowledged
//	readers: record is read ─▶ Claim ─▶ the record as if it held the body
//	then:    the log of fetched begins behind the record ─▶ object is deleted
//
// The object is there before the record, so that a record never refers to
// nothing. Its key is used once: not even a repeat of the same page writes it
// again, and whoever deletes the body of one record cannot hit another's.
//
//	TOPIC-ID/PARTITION/PAGE-ID.RANDOM
//
// Topic and partition are those of fetched in which the record stands. The id
// of a topic is that of one incarnation: two crawls may share a bucket.
//
// # What is left behind
//
// A process that dies between object and record leaves an orphan, and one that
// dies between a record's end and its object's leaves an object whose record is
// gone. Keys lists what there is; who decides that nobody needs it is the
// collector of package processors.
//
// # Failure
//
// The reference has size and SHA-256, so that a damaged or cut object is
// noticed. It is then read twice more before it counts as ErrDamaged; an object
// that is not there is ErrMissing at once. Both concern one record.
//
// All other trouble is the store's and concerns every record: Put and Claim wait
// it out, however long it takes, say so in the log once a minute, and end with
// nothing but their context. Waiting tells that they do, for those who should
// begin nothing new meanwhile.
//
// # Memory
//
// Put sends from the caller's memory; of an S3 upload, two parts of 8 MiB are
// held besides, and at most four bodies are sent at once. Claim holds the record
// with its body once.
package bodies
