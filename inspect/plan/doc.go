// Package plan computes the resources of a crawl in advance: pages per second and whether
// politeness permits them, cores, partitions, processes, memory, disk and network, the effect of
// a lost machine, and the bottleneck.
//
// It is pure: For makes a Plan from a Crawl and a Model of costs. `bin/run cost` measures the
// model, which is in model.json. Every figure of a Plan is a product of figures of the model and
// the crawl, or one of the assumptions below.
//
// # The model
//
// All costs are linear. A Load counts the work of a crawl: fetched pages, links on them, KiB of
// their bodies, visited domains, and URLs that are known and not fetched. A Cost is the cost of
// one of each: µs of CPU, bytes in a topic, or bytes on disk. So a plan for twice the pages has
// twice the cores, and no figure gets smaller when a crawl grows.
//
// # What is assumed and not measured
//
//   - All domains have the same number of pages, unless Crawl.LargestDomain is given.
//   - Copies of a partition cost their broker as much CPU as the first one.
//   - A page travels from the web compressed to a quarter (wireShare).
//   - A Pebble store takes twice its size while it compacts (storeSlack).
//   - Duplicates are detected, no page has the text of another, and parse knows every page
//     that it ever parsed (indexMemory).
//   - Records that are kept until they are consumed are consumed within ten
//     minutes (backlog).
//   - A machine is used up to Crawl.Load of its cores, disk and network, so that the others
//     can do the work of a lost one.
package plan
