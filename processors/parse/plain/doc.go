// Package plain reads the formats that people and programs write as text: Markdown, JSON, JSON
// lines, CSV and source code.
//
// It is pure and never fails: what can be read counts, and the rest is text. Each reader makes one
// pass over the text, in time and memory that grow with its length, however the text is made. The
// usual package for Markdown, goldmark, does not: 20 KB of "> " or "*a_" take it many seconds, and
// 10 KB of a table make 20 MB. It is the reference in tests
// (docs/decisions/0038-plain-structures-have-readers-of-our-own.md).
package plain
