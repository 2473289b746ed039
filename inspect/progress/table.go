package progress

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table prints rows in columns that are as wide as their widest cell.
type Table struct{ columns *tabwriter.Writer }

// NewTable prints to out.
func NewTable(out io.Writer) Table { return Table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)} }

// Row adds a row. Only Flush reports errors.
func (t Table) Row(cells ...any) {
	row := strings.TrimSuffix(strings.Repeat("%v\t", len(cells)), "\t")
	fmt.Fprintf(t.columns, row+"\n", cells...)
}

// Flush prints the rows that were added since the last call.
func (t Table) Flush() error {
	if err := t.columns.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
