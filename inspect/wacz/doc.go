// Package wacz writes an archive as one file in the format WACZ 1.1.1
// (https://specs.webrecorder.net/wacz/1.1.1/), which programs such as ReplayWeb.page show.
//
//	archive/                  the files of exchanges, as they are
//	indexes/index.cdx.gz      the merged index, in gzip members of blockLines lines
//	indexes/index.idx         the first key of each member, with its place
//	pages/pages.jsonl         the pages of HTML, from the files of metadata
//	datapackage.json          name, size and SHA-256 of all these
//	datapackage-digest.json   the SHA-256 of datapackage.json
//
// The file is written from its beginning to its end, and little of it is in memory: the names of
// the files, a line for each block of the index, and the id of each page.
package wacz
