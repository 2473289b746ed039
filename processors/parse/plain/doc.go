// Package plain reads the formats that people and programs write as text: Markdown, JSON, JSON
// lines, CSV and source code.
//
// It is pure and never fails: it reads what it can, and the rest is text. Each reader makes one
// pass over the text. Time and memory grow only with the length of the text, also if the text
// is hostile. goldmark, the usual package for Markdown, does not have this property: 20 KB of
// "> " or "*a_" take many seconds, and 10 KB of a table make 20 MB. The tests compare this
// package with goldmark (docs/decisions/0038-plain-structures-have-readers-of-our-own.md).
package plain
