// Package language tells the language, the script and the direction of a text.
//
// It looks at some hundred letters (sampled): at long lines first, which are prose, and at a part of
// each, since a page may have parts in several languages. A script that one language uses decides alone.
// In Latin, Cyrillic, Arabic, Devanagari and Bengali letters the words decide, and in Han the characters.
//
// # Words
//
// A feature is a run of three or four letters of a word, with the ends of the word. A table says how
// likely each feature is in each language. The language in which the features of the sample are
// likeliest together is the guess (naive Bayes). Names of files, options, numbers and abbreviations
// are no words.
//
// A cost, the negative logarithm of a likelihood, is a number from 0 to 15. Eight of them are added at
// once as the bytes of one number (table.add), so that a page costs a few microseconds with forty
// languages.
//
// # No guess
//
// There is no guess for a text that is too short, for one whose parts are in different languages, for
// one whose features the tables do not have, and for one of which two languages are about as likely.
// A text in a language that no table has, such as Swahili, may be taken for another one.
//
// # Tables
//
// bench/languages makes tables.gz of the translations of programs and manuals in Debian, and measures
// it on other ones. docs/decisions/0042 has the figures.
package language
