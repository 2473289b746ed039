// Package similar says how alike two texts are, from fingerprints of 24 bytes:
// whether they are the same, and if not, whether they are nearly so. It is pure.
//
// # The fingerprint
//
// [Of] makes a [Print] of a text as package parse gives it, one line a block
// with white space folded:
//
//   - Hash: xxh3 of 128 bits over its bytes. Equal hashes are the same text.
//   - Sim: SimHash of 64 bits (Charikar, Similarity estimation techniques from
//     rounding algorithms, 2002). Each feature of a text votes for or against
//     each bit; texts that share most of their features differ in few bits.
//     Manku, Jain and Das Sarma (Detecting near-duplicates for web crawling,
//     2007) take 3 bits of 64 as the limit, and so does this: [MaxDistance].
//
// # The features
//
// They were chosen by measurement, on 886 pages of documentation and edits of
// them: dates and counters, navigation, advertisements, a paragraph changed or
// removed, one word in 200 changed, a header and a footer around it. Near is the
// share of edited pages found; template is the share of pairs of different pages,
// each 20 words in a template of 150, taken for each other. TestBars holds what was
// chosen to bars, on fewer pages, with figures of its own.
//
//	features                                 near   template
//	words, each time they occur              87 %   3.3 %
//	pairs of words                           72 %   0.6 %
//	triples of words                         63 %   0.7 %
//	words, once each or by log or root       70 %
//	words and pairs                          84 %   1.8 %
//	words and pairs, long lines double       84 %   0.03 %
//
// So: words and pairs of neighbouring words, as often as they occur; those of a
// line of eight words or more count twice, since navigation and other matter
// that pages of a site share comes in short lines, and what a page says in long
// ones. Which lines a site repeats is not asked for: that changes with each page
// of the site, and a fingerprint must not.
//
// A word is a run of letters and digits, case folded for the alphabets of two
// bytes (Latin, Greek, Cyrillic, Armenian). A run of digits is one letter, so that
// "page 7" and "page 12" do not differ, and a word of nothing but digits counts
// for nothing. Where words are not parted each character makes one, with the one
// before it in Han, and with the three before in scripts that have few: kana, Thai,
// Lao, Khmer, Myanmar. By themselves these are soon as frequent in one text as in
// another: of messages of programs, strung together to texts of 4,000 characters,
// 4 % of the pairs in Japanese and 73 % of those in Thai were taken for each other
// that had no sentence in common, and none is as it is now.
//
// # Short texts
//
// A text of less than [MinWords] words has no SimHash that means anything: one
// word more or less is too much of it. It is the same as another or it is not.
// The grid of a month, which counts from 1 to 28 at least, is an exception: its
// words are the month's name and those of weekdays, and months of one name differ
// in nothing but numbers.
//
// # Numbers
//
// Texts that differ in numbers only are nearly the same, which is right of dates
// and counters and wrong of tables: a text with more numbers than words, and more
// different ones than a calendar has, has no SimHash either.
package similar
