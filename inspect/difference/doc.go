// Package difference counts what differs between two sets of pages: generations of package reparse,
// or the pages of a crawl.
//
// Both are JSON lines of records of parsed. A page is found again by its URL and the time of its
// request, which are the same in all generations. Its members are compared; the members of an
// object, such as fields, one by one.
//
// The first set is read into a temporary store (package scratch) that has a hash for each member,
// and the second one is compared with it. So the sets may be larger than memory. The values of
// examples are found by a second reading of the first set.
package difference
