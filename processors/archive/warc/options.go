package warc

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// Options of Open.
type Options struct {
	// Dir receives the files; it is created.
	Dir string
	// Prefix of file names; by default "WEFT".
	Prefix string
	// Host in file names and in warcinfo; by default the host's name.
	Host string
	// MaxBytes is the size after which a file is finished; by default 1 GB, as Annex C of
	// the standard recommends. A file may exceed it by one exchange.
	MaxBytes int64
	// Level of gzip, 1 to 9; by default 4.
	Level int
	// Info are further fields of warcinfo, in this order, such as software, operator and
	// robots.
	Info []Field
	// Now is the clock of file names and of warcinfo; by default time.Now.
	Now func() time.Time
}

// Field is a named value.
type Field struct{ Name, Value string }

func (o Options) withDefaults() (Options, error) {
	o.Prefix = cmp.Or(o.Prefix, "WEFT")
	o.MaxBytes = cmp.Or(o.MaxBytes, 1e9)
	o.Level = cmp.Or(o.Level, 4)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Host == "" {
		host, err := os.Hostname()
		if err != nil {
			return o, fmt.Errorf("warc: name of this host: %w", err)
		}
		o.Host = host
	}
	return o, nil
}

// Validate reports options that are out of range.
func (o Options) Validate() error {
	switch {
	case o.Dir == "":
		return errors.New("warc: no directory")
	case strings.ContainsAny(o.Prefix, "/-") || strings.Contains(o.Host, "/"):
		// A hyphen would make the parts of a file's name ambiguous.
		return fmt.Errorf("warc: prefix %q or host %q: want no slash, and no hyphen in the prefix", o.Prefix, o.Host)
	case o.MaxBytes < 0:
		return fmt.Errorf("warc: largest file %d bytes: want more than 0", o.MaxBytes)
	case o.Level < 0 || o.Level > gzip.BestCompression:
		return fmt.Errorf("warc: level %d: want 1 to 9", o.Level)
	}
	return nil
}
