// Package broker runs a Kafka-protocol broker in this process, so that a crawl
// on one machine needs no services, and trims the topics that are kept until
// consumed, on any broker.
//
// The broker is franz-go's kfake with its data directory. What is not obvious
// about it, all of it tried:
//
// # Members and strangers
//
// kfake is made for tests: a request of a kind that it does not know ends the
// process, and it takes the size of a frame on trust. So only members reach its
// port, which prove that they may read the data directory (member.go). Others,
// strangers, come to a door (door.go), which decides about each of their
// requests (strangers.go), bounds what they may send and take (frame.go), and
// hands on what is left over a connection of its own. kfake tells clients the
// address of the door; members dial their own port whatever they are told.
//
// # Durability
//
// kfake writes each batch to its segment before it acknowledges it, and leaves
// the rest to the page cache. So kill -9 loses nothing that was acknowledged. A
// power failure may lose the end of a log; commits that then point beyond it
// are brought back to it at the next start, and ledgers compare their positions
// themselves. The last batch of a log may be cut short; it was not
// acknowledged.
//
// A start reads every batch. One that cannot be read although something intact
// stands behind it, or although the broker had ended behind it, is damage:
// ErrDamaged, and nothing is changed. kfake would cut the log there.
//
// A log that is emptied by trimming forgets its end when the process is killed,
// and begins at 0 again below the commits of its readers. The Janitor therefore
// keeps the last record of each partition.
//
// Where a log was trimmed to is written only at a clean end. After a kill the
// log begins with the oldest segment that is left, or where the last clean end
// had it begin: at most a segment of records that were consumed comes back, in
// front of the commits.
//
// The end of a group's life is another default that loses things: Kafka forgets
// commits seven days after a group's last member left. Here they stay.
//
// # Memory and start
//
// Records are not held in memory. The index is: 72 bytes for each batch of all
// logs, so that a million batches take 72 MB. Larger batches (a longer linger)
// make it smaller. Trimmed segments are removed from disk and index.
//
// A start reads all logs once, one segment of each partition at a time. After a
// kill kfake alone would read each log as a whole into memory; see mend.go.
//
// # Cost
//
// A record of 30 KB that is produced, stored and consumed takes about 100 µs of
// CPU in batches of 1 MB and more, and about 170 µs at 1,500 records/s: half of
// it in system calls on sockets and files, a quarter in copies. Connections in
// memory instead of loopback (net.Pipe and kgo.Dialer) made no difference
// beyond the noise of 10 %, so there are none.
package broker
