package plan

import (
	"bytes"
	_ "embed" // the model's figures
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Load is the work of a crawl, in total or per second.
type Load struct {
	Pages   float64 `json:"pages"`   // fetched with a body
	Links   float64 `json:"links"`   // on these pages
	KiB     float64 `json:"kib"`     // of these pages' bodies, uncompressed
	Domains float64 `json:"domains"` // visited, each with its robots.txt
	Queued  float64 `json:"queued"`  // URLs that are known and not fetched
}

// Times returns the load multiplied by a factor.
func (l Load) Times(n float64) Load {
	return Load{l.Pages * n, l.Links * n, l.KiB * n, l.Domains * n, l.Queued * n}
}

// Cost is the cost of one of each item of a Load.
type Cost struct {
	Page   float64 `json:"page,omitempty"`
	Link   float64 `json:"link,omitempty"`
	KiB    float64 `json:"kib,omitempty"`
	Domain float64 `json:"domain,omitempty"`
	Queued float64 `json:"queued,omitempty"`
}

// Of is the cost of a load.
func (c Cost) Of(l Load) float64 {
	return c.Page*l.Pages + c.Link*l.Links + c.KiB*l.KiB + c.Domain*l.Domains + c.Queued*l.Queued
}

func (c Cost) valid() bool {
	return figure(c.Page) && figure(c.Link) && figure(c.KiB) && figure(c.Domain) && figure(c.Queued)
}

// given: it is not missing, either.
func (c Cost) given() bool { return c.valid() && c != (Cost{}) }

// mostOf bounds the figures of a model: µs, bytes or records for one item.
const mostOf = 1e12

func figure(v float64) bool { return v >= 0 && v <= mostOf }

// Model is the costs, and where they were measured.
type Model struct {
	Measured Measured `json:"measured"`
	// Stages by name, in no order: normalize, dedupe, schedule, fetch, parse.
	Stages map[string]Stage `json:"stages"`
	// BrokerCPU in µs, of one copy of each partition.
	BrokerCPU Cost `json:"broker_cpu_us"`
	// Topics by their short names.
	Topics map[string]Topic `json:"topics"`
	// Stores are bytes on disk, by stage: dedupe, schedule and parse.
	Stores map[string]Cost `json:"store_bytes"`
	// Replay is µs of CPU to fold the events of a load in a ledger, by stage: dedupe and
	// schedule.
	Replay map[string]Cost `json:"replay_cpu_us"`
	// BloomBits of memory per URL.
	BloomBits float64 `json:"bloom_bits_per_url"`
	TLS       TLS     `json:"tls"`
}

// Measured is the origin of the figures.
type Measured struct {
	Date    string `json:"date"`
	Machine string `json:"machine"`
	Broker  string `json:"broker"`
	Command string `json:"command"`
	// Samples are the loads of the measured crawls.
	Samples []Load `json:"samples"`
}

// Stage is the cost of a stage.
type Stage struct {
	// CPU in µs, user and system, of the whole process.
	CPU Cost `json:"cpu_us"`
	// Idle is the part of a core that an idle process takes.
	Idle float64 `json:"idle_cores"`
	// PeakMiB of resident memory of one process.
	PeakMiB float64 `json:"peak_mib"`
}

// Topic is the data written to a topic: bytes of one copy of its log, compressed.
type Topic struct {
	Bytes   Cost `json:"bytes"`
	Records Cost `json:"records"`
}

// TLS is the cost of TLS for a client, in µs of CPU.
type TLS struct {
	Handshake float64 `json:"handshake_us"`
	KiB       float64 `json:"kib_us"`
}

// The loop's stages and topics, in its order; the stages that have a ledger, and
// those that have a store.
var (
	stages  = []string{"normalize", "dedupe", "schedule", "fetch", "parse"}
	loop    = []string{"discovered", "normalized", "deduped", "scheduled", "fetched", "visited", "parsed"}
	ledgers = []string{"dedupe", "schedule"}
	stores  = []string{"dedupe", "schedule", "parse"}
)

//go:embed model.json
var measured []byte

// Default is the model in Weft, measured by its authors.
func Default() Model {
	m, err := ParseModel(measured)
	if err != nil {
		panic("plan: model.json: " + err.Error())
	}
	return m
}

// ParseModel reads a model as `bin/run cost -json` writes it.
func ParseModel(text []byte) (Model, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var m Model
	if err := decoder.Decode(&m); err != nil {
		return Model{}, fmt.Errorf("read the model: %w", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Model{}, errors.New("read the model: something follows it")
	}
	return m, m.Validate()
}

// Validate reports figures that are missing or not valid.
func (m Model) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("the model's "+format, args...))
		}
	}
	for _, name := range stages {
		s := m.Stages[name]
		check(s.CPU.given() && figure(s.Idle) && s.PeakMiB > 0 && figure(s.PeakMiB), "stage %s is missing or no cost", name)
	}
	for _, name := range loop {
		t := m.Topics[name]
		check(t.Bytes.given() && t.Records.valid(), "topic %s is missing or no cost", name)
	}
	for _, name := range stores {
		check(m.Stores[name].given(), "store of %s is missing or no cost", name)
	}
	for _, name := range ledgers {
		check(m.Replay[name].given(), "replay of %s is missing or no cost", name)
	}
	check(m.BrokerCPU.valid(), "broker has no cost")
	check(m.BloomBits > 0 && figure(m.BloomBits) && figure(m.TLS.Handshake) && figure(m.TLS.KiB), "filter or TLS has no cost")
	return errors.Join(errs...)
}

// Rounded returns the model with three digits for each figure: more digits are noise.
func (m Model) Rounded() Model {
	stages, all := map[string]Stage{}, map[string]Topic{}
	for name, s := range m.Stages {
		stages[name] = Stage{s.CPU.rounded(), digits(s.Idle), digits(s.PeakMiB)}
	}
	for name, t := range m.Topics {
		all[name] = Topic{t.Bytes.rounded(), t.Records.rounded()}
	}
	each := func(costs map[string]Cost) map[string]Cost {
		rounded := map[string]Cost{}
		for name, c := range costs {
			rounded[name] = c.rounded()
		}
		return rounded
	}
	m.Stages, m.Topics, m.Stores, m.Replay = stages, all, each(m.Stores), each(m.Replay)
	m.BrokerCPU = m.BrokerCPU.rounded()
	m.BloomBits, m.TLS = digits(m.BloomBits), TLS{digits(m.TLS.Handshake), digits(m.TLS.KiB)}
	return m
}

func (c Cost) rounded() Cost {
	return Cost{digits(c.Page), digits(c.Link), digits(c.KiB), digits(c.Domain), digits(c.Queued)}
}

// digits rounds to three significant digits.
func digits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		panic("plan: " + err.Error()) // it was formatted a moment ago
	}
	return rounded
}
