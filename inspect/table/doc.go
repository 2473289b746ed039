// Package table makes a table of an archive in the format Parquet, with the columns of the index of
// Common Crawl (https://github.com/commoncrawl/cc-index-table), for SQL engines.
//
//	reads    the indexes of the archive (package kept), and its files of metadata
//	writes   index/parquet/STEM.NEXT.parquet: a file for each index
//
// # State
//
// There is none but the files. A file is put when it is complete, and a file that is there is not made
// again. Two processes make the same bytes.
//
// What parsed says of a page is in files of metadata, whose records are in another order. It is
// collected in a temporary store first, by URL and second, as the lines of an index name a response. A
// page whose metadata is not in the archive yet has none in the table.
package table
