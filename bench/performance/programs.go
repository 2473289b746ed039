// Package performance is what docs/performance.md shows: the crawlers that are
// compared, their tables and plot, and the shares of a CPU profile. It only computes;
// `run speed` and `run peers` measure.
package performance

// Weft is the name of the program that the others are compared with.
const Weft = "Weft"

// Program is a crawler to measure.
type Program struct {
	Name string
	// Version that its manifest in bench/peers pins; empty: a program of this repository.
	Version string
	// Command with the placeholders of command run, and {tools}: where bench/peers/fetch
	// has put it.
	Command string
	// Durable says what a crawl has on disk to go on with after its process was killed.
	Durable string
}

// Programs are all programs in the order of a round.
func Programs() []Program {
	return []Program{
		{"limit", "", "{bin}/limit -urls {urls}", "no"},
		{Weft, "", "{bin}/weft crawl --delay 0 --allow-private --scope host --seeds {seeds} --data {data}", "yes"},
		{"spider", "2.53.9", "{tools}/spider/release/peer-spider {seeds} {data}.jsonl", "no"},
		{"Colly", "2.3.0", "{tools}/colly {seeds} {data}.jsonl", "no"},
		{"Scrapy", "2.19.0", "{tools}/scrapy/bin/python bench/peers/scrapy/crawl.py {seeds} {data}.jsonl", "no"},
		{"Crawlee in memory", "3.18.1", "node {tools}/crawlee/crawl.js memory {seeds} {data}.json", "no"},
		{"Crawlee", "3.18.1", "node {tools}/crawlee/crawl.js disk {seeds} {data}", "in part"},
	}
}
