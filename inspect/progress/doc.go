// Package progress shows people how a crawl goes: a line that is redrawn in
// place on a terminal, a plain line every ten seconds elsewhere, and a table of
// outcomes at the end. It counts nothing itself; it renders the [Snapshot]s it
// is given, on the clock it is given.
package progress
