package warc

import (
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
	// Prefix of file names. Default "WEFT".
	Prefix string
	// Host in file names and in warcinfo. Default: the host's name.
	Host string
	// MaxBytes after which a file is finished; it may exceed it by one
	// exchange. Default 1 GB, as the standard recommends in Annex C.
	MaxBytes int64
	// Level of gzip, 1 to 9. Default 4.
	Level int
	// Info are further fields of warcinfo, in this order: software, operator,
	// robots and so on.
	Info []Field
	// Now is the clock of file names and of warcinfo. Default time.Now.
	Now func() time.Time
}

// Field is a named value.
type Field struct{ Name, Value string }

func (o Options) withDefaults() (Options, error) {
	if o.Prefix == "" {
		o.Prefix = "WEFT"
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 1e9
	}
	if o.Level == 0 {
		o.Level = 4
	}
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

// Validate reports options that cannot be followed.
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
