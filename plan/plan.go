package plan

// Plan is what a crawl would take. Bytes are bytes, rates are per second, and
// machines are fractions of one unless they are whole by their type.
type Plan struct {
	Crawl Crawl `json:"crawl"`
	// Rate is pages a second, Requests those with robots.txt.
	Rate     float64 `json:"pages_per_second"`
	Requests float64 `json:"requests_per_second"`
	// URLs that are known in the end.
	URLs       float64 `json:"urls"`
	Politeness Polite  `json:"politeness"`
	// Partitions of the crawl, and what asks for so many; empty: nothing does.
	Partitions    int      `json:"partitions"`
	PartitionsWhy string   `json:"partitions_why"`
	Stages        []Part   `json:"stages"`
	Workers       Machines `json:"workers"`
	Brokers       Machines `json:"brokers"`
	Topics        []Log    `json:"topics"`
	Stores        []Store  `json:"stores"`
	Network       Network  `json:"network"`
	Objects       Objects  `json:"objects"`
	Recovery      Recovery `json:"recovery"`
	// Bottlenecks are what the plan has too little of, or would have first: the
	// first decides.
	Bottlenecks []Bottleneck `json:"bottlenecks"`
}

// Polite says whether the pages can be had in the time.
type Polite struct {
	Possible bool `json:"possible"`
	// Most is the pages a second that the domains permit.
	Most float64 `json:"most_pages_per_second"`
	// DomainsNeeded permit the rate that is wanted, if all are of one size; 0:
	// no number does, since one robots.txt takes longer. DaysNeeded is how long the
	// crawl takes at least, with the domains there are.
	DomainsNeeded int64   `json:"domains_needed"`
	DaysNeeded    float64 `json:"days_needed"`
}

// Part is a stage's part of the work.
type Part struct {
	Stage     string  `json:"stage"`
	Cores     float64 `json:"cores"` // busy, in the mean
	Processes int     `json:"processes"`
	Memory    float64 `json:"memory"` // of all its processes
}

// Machines of one kind: how many each resource asks for, and how many there
// have to be.
type Machines struct {
	CPU     float64 `json:"cpu"`
	Memory  float64 `json:"memory"`
	Disk    float64 `json:"disk"`
	Network float64 `json:"network"`
	Count   int     `json:"count"`
}

// Log is a topic.
type Log struct {
	Topic   string  `json:"topic"`
	Records float64 `json:"records_per_second"`
	Bytes   float64 `json:"bytes_per_second"`
	Kept    string  `json:"kept"`
	Disk    float64 `json:"disk"` // of all copies
}

// Store is the state of a stage on the disks of its machines.
type Store struct {
	Stage string  `json:"stage"`
	Disk  float64 `json:"disk"`
}

// Network is bytes a second, of all machines together.
type Network struct {
	FromWeb     float64 `json:"from_web"`
	ToBrokers   float64 `json:"to_brokers"`
	FromBrokers float64 `json:"from_brokers"`
	Replicas    float64 `json:"between_brokers"`
}

// Objects is what lies in the object store: checkpoints, two of each partition,
// and large bodies that are not parsed yet.
type Objects struct {
	Checkpoints float64 `json:"checkpoints"`
	Bodies      float64 `json:"bodies"`
	BodiesRate  float64 `json:"bodies_per_second"`
}

// Recovery is the seconds for which the domains of a lost machine are not asked,
// when one new machine takes its place, and those for which pages that were fetched
// of its partitions are not parsed.
type Recovery struct {
	WithCheckpoints    float64 `json:"with_checkpoints_s"`
	WithoutCheckpoints float64 `json:"without_checkpoints_s"`
	Pages              float64 `json:"pages_s"`
}

// Bottleneck is a resource: machines are those that it asks for, by itself. Of
// politeness, which no machine helps, it is 0.
type Bottleneck struct {
	What     string  `json:"what"`
	Why      string  `json:"why"`
	Machines float64 `json:"machines"`
}
