// Package bodies stores the bodies of exchanges that are too large for a record in an object
// store. The record has a reference.
//
// # Life of a body
//
//	fetch:   object is written ─▶ record in fetched, with the reference ─▶ acknowledged
//	readers: record is read ─▶ Load ─▶ the record with its body
//	then:    the log of fetched begins behind the record ─▶ object is deleted
//
// The object is written before the record, so that a record never has a dangling reference.
// A key is used once, also for a repeat of the same page, so that deleting the body of one
// record cannot affect another record.
//
//	TOPIC-ID/PARTITION/PAGE-ID.RANDOM
//
// TOPIC-ID and PARTITION say where the record is. A topic that is created again has another id, so
// two crawls may share a bucket.
//
// The archive keeps bodies as they came. If a body came with content codings, a second object has
// this form, with .coded behind the key. Only the archive reads it. Versions before this one do not
// know it: their sweeps delete it like an object without a record, and their archive keeps the
// decoded body.
//
// # What is left behind
//
// A process that dies between writing the object and the record leaves an object without a
// record. A process that dies between trimming the record and deleting the object leaves one
// too. Keys lists all objects; the collector of package parse decides which are not used.
//
// # Failure
//
// The reference has size and SHA-256, so that a damaged or cut object is noticed. It is read
// twice more before the error is ErrDamaged. An object that does not exist is ErrMissing at
// once. Both errors concern one record.
//
// All other errors are the store's and concern every record. Put and Load wait until the
// store works again, however long it takes, and write a line to the log once a minute. They
// end only with their context. Waiting reports that they wait, so that callers can begin
// nothing new meanwhile.
//
// # Memory
//
// Put sends from the caller's memory. An S3 upload also has two parts of 8 MiB in memory, and
// at most four bodies are sent at the same time. Load has the record with its body in memory
// once.
package bodies
