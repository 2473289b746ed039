// Package simhash compares texts by similarity fingerprints of 40 bytes: whether two texts
// are the same and, if not, whether they are nearly the same. It is pure.
//
// # The fingerprint
//
// [Of] makes a [Fingerprint] of a text. Package document gives it the text with one line a block
// and with folded white space.
//
//   - Hash: xxh3 of 128 bits over its bytes. Equal hashes are the same text.
//   - Min: MinHash of 128 bits (Broder, On the resemblance and containment of documents,
//     1997) of its runs of four words. Texts that have most runs in common agree in most of
//     its 64 bins: texts that are nearly the same differ in at most [MaxDiffering] bins.
//   - Sim: SimHash of 64 bits (Charikar, Similarity estimation techniques from rounding
//     algorithms, 2002). Each feature of a text votes for or against each bit. Texts that
//     share most of their features differ in few bits. The number of bits in which texts
//     differ that are nearly the same is their distance, from 1 to [MaxDistance].
//
// SimHash alone does not tell which texts are nearly the same. Long texts of one language
// converge, because their features are about as frequent in one text as in another. Of
// 31,838 real pages in one index, with a limit of three bits (Manku, Jain and Das Sarma,
// Detecting near-duplicates for web crawling, 2007), 1.2 % were called duplicates of
// pages with almost nothing in common, and 13 % of the pages with more than 3,000 words.
// Two texts hardly ever share a run of four words by chance, even if they are long. A run
// counts once, even if it occurs often.
//
// # MinHash
//
// Each run is hashed once. The hash chooses one of 64 bins, and each bin keeps its least
// hash (Li, Owen and Zhang, One permutation hashing, 2012). Bins that stay empty in short
// texts are filled from others (Shrivastava, Optimal densification for fast and accurate
// minwise hashing, 2017). Two bits of each least hash are kept (Li and König, b-bit minwise
// hashing, 2010).
//
// A run in a line of eight words or more counts four times, other runs once, for the reason
// below. In runs, as in SimHash, numbers do not count. Digits behind a letter count: f32 and
// f64 are names. On 30,000 pages of Debian's documentation (bench/neardup), 5,690 pages were
// called nearly the same as another one: 5,199 had a Jaccard similarity of at least 0.7 with
// it, 491 between 0.3 and 0.7, and none less. 98.9 % of the pages with an earlier page at 0.9
// or more were found. Of 100,000 pages 22,005 were called so, 0 of them at less than 0.3,
// and 99.1 % were found: the rate does not grow with the index.
//
// # The features of SimHash
//
// They were chosen by measurement, on 886 pages of documentation and edits of them: dates
// and counters, navigation, advertisements, a paragraph changed or removed, one word in 200
// changed, a header and a footer around it. Near is the share of edited pages at most three
// bits away. Template is the share of pairs of different pages, each 20 words in a template
// of 150, that are at most three bits away, too. TestBars checks the fingerprint as a whole
// against bars, on fewer pages.
//
//	features                                 near   template
//	words, each time they occur              87 %   3.3 %
//	pairs of words                           72 %   0.6 %
//	triples of words                         63 %   0.7 %
//	words, once each or by log or root       70 %
//	words and pairs                          84 %   1.8 %
//	words and pairs, long lines double       84 %   0.03 %
//
// So the features are words and pairs of neighbouring words, as often as they occur. Those of a
// line of eight words or more count twice: navigation and other text that pages of a site share
// comes in short lines, and what a page says comes in long ones. The fingerprint does not
// depend on which lines a site repeats: that changes with each page of the site, and a
// fingerprint must not change.
//
// A word is a run of letters and digits. Case is folded for the alphabets of two bytes
// (Latin, Greek, Cyrillic, Armenian). A run of digits is one letter, so that "page 7" and
// "page 12" do not differ. A word of digits only does not count. In scripts that do not
// separate words each character is a word: in Han together with the character before it,
// and in scripts that have few characters (kana, Thai, Lao, Khmer, Myanmar) together with
// the three before it. Single characters are equally frequent in most texts. In a test
// with messages of programs, joined to texts of 4,000 characters, 4 % of the pairs in
// Japanese and 73 % of the pairs in Thai were called nearly the same without a common
// sentence. Now no pair is.
//
// # Short texts
//
// A text of less than [MinWords] words has no useful SimHash and no MinHash, because one
// word is too large a part of it. It is the same as another text or it is not. The grid of a
// month, which counts from 1 to 28 at least, is an exception: its words are the names of the
// month and the weekdays, and months of one name differ only in numbers. Its MinHash is made
// of all its words, not of runs: one more word makes another month.
//
// # Numbers
//
// Texts that differ in numbers only are nearly the same. This is right for dates and counters,
// and wrong for tables: a text with more numbers than words, and with more different numbers
// than a calendar, has no SimHash and no MinHash.
package simhash
