// Package crawl assembles a crawl in one process: the embedded broker or a connection to a
// cluster, the stages of the loop, the writers of files, the janitor, and the watch that finds
// out when the crawl is drained.
//
//	open     lock the data directory, start the broker, create or check topics
//	define   write the crawl's definition, or read the one that is in force
//	run      all stages, until one of the Ended constants, or an error
//	close    stop fetching, then finish what is in flight, then the broker
//
// An end follows that order: fetch begins no request, gives those in flight 3 s, and
// reports what is acknowledged. Once schedule has settled that, the other stages
// end: workers finish what they have begun, ledgers flush and publish a checkpoint.
// Files are written last. All of it takes 6 s at most. Only if the crawl has ended by itself
// (drained, or hosts that are down or blocked domains are left), the files of pages and of the
// archive are completed, however long that takes. The next run finds and repeats requests that were cut off.
//
// The next run continues after a kill: it finds the logs in the broker's directory, the
// checkpoints beside them, and files with a record of their end.
package crawl
