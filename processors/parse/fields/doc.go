// Package fields takes values of a page out by rules that users write: CSS selectors, attributes,
// regular expressions, lists, records in one another, types.
//
// A file of rules is one Rule: which pages it is for, and their fields. docs/extract.md describes
// the language. Load checks it, and names what is wrong by file and line. Rules.For finds the rule
// of a page: the first one that is for its URL, in the order of the names of the files. Rule.Apply
// takes the fields out.
//
// A value that is missing, or that is not of its type, is left out, and is an Error. So is
// everything beyond the bounds. Selectors of users on pages of others can take long: a selector
// is not used on a page where it might take more than maxSteps, which is judged by the shape of
// the tree.
package fields
