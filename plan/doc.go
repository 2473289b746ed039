// Package plan computes what a crawl would take before anybody buys it: pages a
// second and whether politeness permits them, cores, partitions, processes,
// memory, disk and network, how long a lost machine is missed, and which of
// these is the bottleneck.
//
// It is pure: For turns a Crawl, which says what is wanted, and a Model, which
// says what one of everything costs, into a Plan. The model is measured, by
// `bin/run cost`, and stands in model.json; every figure of a Plan is a product
// of the model's and the crawl's, or one of the assumptions below.
//
// # The model
//
// All costs are linear. A Load counts what a crawl does: pages fetched, links on
// them, KiB of their bodies, domains visited, and URLs that are known and not
// fetched. A Cost is what one of each takes, in the unit of whatever it is the
// cost of: µs of CPU, bytes in a topic, bytes on disk. So a plan for twice the
// pages takes twice the cores, and nothing of it gets less when a crawl grows.
//
// # What is assumed and not measured
//
//   - A page is spread over domains evenly; the largest domain is as large as
//     the mean. Crawl.LargestDomain says otherwise.
//   - Copies of a partition cost their broker as much CPU as the first one.
//   - A page travels from the web compressed to a quarter (wireShare).
//   - A Pebble store takes twice its size while it compacts (storeSlack).
//   - Duplicates are looked for, no page has the text of another, and parse knows
//     each that it ever parsed (indexMemory).
//   - Records that are kept until they are consumed are consumed within ten
//     minutes (backlog).
//   - A machine is used up to Crawl.Load of its cores, disk and network, so that
//     the others can take what a lost one did.
package plan
