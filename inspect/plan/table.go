package plan

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table is the model as a table with a line for each cost.
func (m Model) Table() string {
	var out strings.Builder
	t := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "one more\tpage\tlink\tKiB\tdomain\tURL queued\tan idle process\t")
	row := func(name string, c Cost, more string) {
		fmt.Fprintf(t, "%s", name)
		for _, v := range []float64{c.Page, c.Link, c.KiB, c.Domain, c.Queued} {
			if v == 0 {
				fmt.Fprint(t, "\t·")
			} else {
				fmt.Fprintf(t, "\t%.3g", v)
			}
		}
		fmt.Fprintf(t, "\t%s\t\n", more)
	}
	for _, name := range stages {
		s := m.Stages[name]
		row("µs of CPU of "+name, s.CPU, fmt.Sprintf("%.2g cores, %.0f MiB", s.Idle, s.PeakMiB))
	}
	row("µs of CPU of the broker", m.BrokerCPU, "")
	for _, name := range loop {
		row("bytes in "+name, m.Topics[name].Bytes, "")
	}
	for _, name := range loop {
		row("records in "+name, m.Topics[name].Records, "")
	}
	for _, name := range stores {
		row("bytes of store of "+name, m.Stores[name], "")
	}
	for _, name := range ledgers {
		row("µs to replay "+name, m.Replay[name], "")
	}
	_ = t.Flush() // a builder takes all
	fmt.Fprintf(&out, "\nmemory of the filter: %.3g bits a URL\nTLS: %.3g µs of CPU a handshake, %.3g µs a KiB\n", m.BloomBits, m.TLS.Handshake, m.TLS.KiB)
	from := m.Measured
	fmt.Fprintf(&out, "measured %s on %s\nbroker: %s\ncommand: %s\n", from.Date, from.Machine, from.Broker, from.Command)
	return out.String()
}
