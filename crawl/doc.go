// Package crawl assembles a crawl in one process: the embedded broker or a
// connection to a cluster, the stages of the loop, the writers of files, the
// janitor, and the watch that knows when there is nothing left to do.
//
//	open     lock the data directory, start the broker, create or check topics
//	define   write the crawl's definition, or read the one that is in force
//	run      all stages, until drained, full, interrupted or broken
//	close    stop fetching, then finish what is in flight, then the broker
//
// A run that is killed leaves everything where the next one finds it: logs in
// the broker's directory, checkpoints beside them, and files that say where
// they end.
package crawl
