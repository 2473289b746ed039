// Package broker runs a Kafka-protocol broker in this process, so that a crawl on one machine
// needs no services. It also trims the topics that are kept until consumed, on any broker.
//
// The broker is franz-go's kfake with its data directory. These facts about it are not
// obvious; all of them were tried.
//
// # Members and other clients
//
// kfake is made for tests: a request of an unknown kind ends the process, and it trusts the
// size of a frame. So only members reach its port. They prove that they may read the data
// directory (member.go). Other clients connect to a listener (listener.go), which judges each
// of their requests (requests.go), bounds what they may send and receive (frame.go), and
// forwards the rest over a connection of its own. kfake tells clients the address of the
// listener; members always dial their own port.
//
// # Durability
//
// kfake writes each batch to its segment before it acknowledges it; the page cache does the
// rest. So kill -9 loses nothing that was acknowledged. A power failure may lose the end of a
// log. The next start then moves commits beyond the end back to it, and ledgers compare their
// positions themselves. The last batch of a log may be cut; it was not acknowledged.
//
// A start reads every batch. A batch is damaged if it cannot be read and an intact batch
// follows it, or the broker had ended after it: the start fails with ErrDamaged and changes
// nothing. kfake would cut the log there.
//
// A log that trimming has emptied forgets its end when the process is killed, and begins at 0
// again, below the commits of its readers. So the Janitor keeps the last record of each
// partition.
//
// The start of a trimmed log is written only at a clean end. After a kill the log begins with its
// oldest segment, or at the start that the last clean end wrote. At most one segment of consumed
// records comes back, before the commits.
//
// Kafka forgets commits seven days after a group's last member left. Here they stay.
//
// # Configuration
//
// The cluster id is random and kept in the directory, so that state paths and topics
// of two crawls never meet. Batches have up to 16 MiB. Segments are small where the
// janitor trims, since trimming frees whole segments. Records are not compressed,
// since they do not leave the machine.
//
// # Memory and start
//
// Records are not in memory, but the index is: 72 bytes for each batch of all logs, so a
// million batches take 72 MB. Larger batches (a longer linger) make it smaller. Trimmed
// segments are removed from disk and index.
//
// A start reads all logs once, and after a kill twice, one segment of each partition at a time. kfake
// alone would then read each log completely into memory; see snapshot.go.
//
// # Cost
//
// Producing, storing and consuming a record of 30 KB takes about 100 µs of CPU in batches of
// 1 MB and more, and about 170 µs at 1,500 records/s: half of it in system calls on sockets
// and files, a quarter in copies. Connections in memory instead of loopback (net.Pipe and
// kgo.Dialer) made no difference beyond the noise of 10 %, so they are not used.
package broker
