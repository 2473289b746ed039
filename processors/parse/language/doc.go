// Package language tells the language, the script and the direction of a text.
//
// It looks at some hundred letters (sample.go): at long lines first, which are prose, and at a part of
// each, since a page may have parts in several languages. It stops early if all parts are in one
// language beyond doubt. A script that one language uses decides alone. In Latin, Cyrillic, Arabic,
// Devanagari and Bengali letters the words decide, and in Han the characters.
//
// # Words
//
// A feature is a run of three or four letters of a word, with the ends of the word (features.go). A table says how
// likely each feature is in each language. The language in which the features of the sample are
// likeliest together is the guess (naive Bayes). Names of files, options, numbers and abbreviations
// are no words.
//
// # Time
//
// Between two pages the tables leave the caches of the processor, so memory decides what a page costs. A cost,
// the negative logarithm of a likelihood, is a number from 0 to 15: the costs of 48 languages and the
// name of their feature are half a line of a cache. A look-up reads one line, several look-ups wait
// together, and 16 costs are added at once as the digits of one number (table.add). docs/decisions/0054
// has the reasons.
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
