// Package similar says how alike two texts are, from fingerprints of 40 bytes:
// whether they are the same, and if not, whether they are nearly so. It is pure.
//
// # The fingerprint
//
// [Of] makes a [Print] of a text as package parse gives it, one line a block
// with white space folded:
//
//   - Hash: xxh3 of 128 bits over its bytes. Equal hashes are the same text.
//   - Min: MinHash of 128 bits (Broder, On the resemblance and containment of
//     documents, 1997) of its runs of four words. Texts that have most runs in common
//     agree in most of its 64 bins: at most [MaxDiffering] differ between texts that are
//     nearly the same.
//   - Sim: SimHash of 64 bits (Charikar, Similarity estimation techniques from
//     rounding algorithms, 2002). Each feature of a text votes for or against
//     each bit; texts that share most of their features differ in few bits. The bits
//     that differ between texts that are nearly the same are their distance, from 1 to
//     [MaxDistance].
//
// SimHash alone does not tell which texts are nearly the same. Long texts of one
// language converge, since their features are as frequent in one as in another: of
// 31,838 real pages in one index, with at most three bits as the limit (Manku, Jain
// and Das Sarma, Detecting near-duplicates for web crawling, 2007), 1.2 % were taken for
// pages with which they had next to nothing in common, and 13 % of those with more than
// 3,000 words. A run of four words that two texts share is hardly ever chance, however
// long they are, and counts once however often it occurs.
//
// # MinHash
//
// Each run is hashed once. The hash chooses one of 64 bins, and each bin keeps its
// least hash (Li, Owen and Zhang, One permutation hashing, 2012); what stays empty in
// short texts is filled from others (Shrivastava, Optimal densification for fast and
// accurate minwise hashing, 2017). Of each least hash two bits are left (Li and König,
// b-bit minwise hashing, 2010).
//
// A run within a line of eight words or more counts four times, others once, for the
// reason below. In runs, numbers do not count, as in SimHash; digits behind a letter do:
// f32 and f64 are names. On 30,000 pages of Debian's documentation (bench/neardup),
// of 5,690 pages that were called nearly the same as another, 5,199 had a Jaccard
// similarity of 0.7 and more with it, 491 one between 0.3 and 0.7, and none one below;
// 98.9 % of the pages with an earlier one at 0.9 and more were found. Of 100,000 pages
// 22,005 were called so, 0 of them at less than 0.3, and 99.1 % were found: the rate does
// not grow with the index.
//
// # The features of SimHash
//
// They were chosen by measurement, on 886 pages of documentation and edits of
// them: dates and counters, navigation, advertisements, a paragraph changed or
// removed, one word in 200 changed, a header and a footer around it. Near is the
// share of edited pages at most three bits away; template is the share of pairs of
// different pages, each 20 words in a template of 150, that are so, too. TestBars holds
// the fingerprint as a whole to bars, on fewer pages.
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
// A text of less than [MinWords] words has no SimHash that means anything, and no
// MinHash: one word more or less is too much of it. It is the same as another or it
// is not. The grid of a month, which counts from 1 to 28 at least, is an exception: its
// words are the month's name and those of weekdays, and months of one name differ
// in nothing but numbers. Its MinHash is one of all its words, not of runs: a word
// more makes another month of it.
//
// # Numbers
//
// Texts that differ in numbers only are nearly the same, which is right of dates
// and counters and wrong of tables: a text with more numbers than words, and more
// different ones than a calendar has, has neither SimHash nor MinHash.
package similar
