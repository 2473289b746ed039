package transfer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/weftcrawl/weft/topics"
)

// Format is the version of the files of an export. It is the newest that this program
// reads.
const Format = 2

// wholeFormat is the version of a complete export.
const wholeFormat = 1

// ErrExport means that a folder has no export, a half export, or a damaged one.
var ErrExport = errors.New("not an export that can be imported")

// Manifest lists the parts of an export. It is written last: a folder without a manifest is
// not an export.
type Manifest struct {
	Format int `json:"format"`
	// At is when the crawl was read.
	At time.Time `json:"at"`
	// Definition is the one in force. Had are all definitions of the crawl, oldest first.
	// Paused are the paused stages, Settings what people asked for single domains.
	Definition topics.Definition   `json:"definition"`
	Had        []topics.Definition `json:"had"`
	Paused     []topics.Stage      `json:"paused,omitempty"`

	Settings map[string]topics.Setting `json:"settings,omitempty"`
	// Damaged describes the parts of the crawl that could not be read. Such an export
	// cannot be imported.
	Damaged []string `json:"damaged,omitempty"`
	// Logs has an entry for each partition of each topic except config.
	Logs []Log `json:"logs"`
}

// Log is the part of an export for one partition.
type Log struct {
	// Topic without the crawl's name.
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Start and End are the offsets that were copied: from Start to before End.
	Start int64 `json:"start"`
	End   int64 `json:"end"`
	// Next is the offset at which each reader of the topic goes on. A missing stage has
	// never begun.
	Next map[topics.Stage]int64 `json:"next,omitempty"`
	// File in the folder, with its number of records, size and checksum; empty if there
	// are no records.
	File    string `json:"file,omitempty"`
	Records int64  `json:"records,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
	SHA256  string `json:"sha256,omitempty"`
}

// sealed is a manifest with its checksum.
type sealed struct {
	Manifest json.RawMessage `json:"manifest"`
	SHA256   string          `json:"sha256"` // of Manifest without white space
}

const manifestFile = "manifest.json"

// write writes the manifest atomically.
func (m *Manifest) write(dir string) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	value, err := json.MarshalIndent(sealed{raw, sum(raw)}, "", " ")
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	name := filepath.Join(dir, manifestFile)
	if err := os.WriteFile(name+".new", value, 0o644); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return nil
}

// readManifest reads the manifest of the export in dir.
func readManifest(dir string) (*Manifest, error) {
	name := filepath.Join(dir, manifestFile)
	value, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s has no %s: it was never finished, or is another folder", ErrExport, dir, manifestFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	var s sealed
	var plain bytes.Buffer
	if json.Unmarshal(value, &s) != nil || json.Compact(&plain, s.Manifest) != nil || sum(plain.Bytes()) != s.SHA256 {
		return nil, fmt.Errorf("%w: %s is damaged", ErrExport, name)
	}
	m := new(Manifest)
	if err := json.Unmarshal(s.Manifest, m); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrExport, name, err)
	}
	if len(m.Damaged) > 0 {
		return nil, fmt.Errorf("%w: %s is only the readable part of a damaged crawl: %s", ErrExport, name, m.Damaged[0])
	}
	if m.Format < 1 || m.Format > Format {
		return nil, fmt.Errorf("%w: %s has format %d, this program knows up to %d", ErrExport, name, m.Format, Format)
	}
	if err := m.Definition.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrExport, name, err)
	}
	for _, l := range m.Logs {
		if l.File != "" && !filepath.IsLocal(l.File) {
			return nil, fmt.Errorf("%w: %s names a file outside its folder: %s", ErrExport, name, l.File)
		}
	}
	return m, nil
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// logs of a topic, by its short name.
func (m *Manifest) logs(topic string) []Log {
	var of []Log
	for _, l := range m.Logs {
		if l.Topic == topic {
			of = append(of, l)
		}
	}
	return of
}

// Records counts the records of a topic, by its short name.
func (m *Manifest) Records(topic string) (n int64) {
	for _, l := range m.logs(topic) {
		n += l.Records
	}
	return n
}

// Bytes is the size of all files.
func (m *Manifest) Bytes() (n int64) {
	for _, l := range m.Logs {
		n += l.Bytes
	}
	return n
}
