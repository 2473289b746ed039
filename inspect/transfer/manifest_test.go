package transfer

import (
	"errors"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/topics"
)

// An export that was made by hand does not lead elsewhere.
func TestManifestNamesFilesOfItsFolder(t *testing.T) {
	for file, local := range map[string]bool{
		"parsed/00000.zst": true, "": true, "../00000.zst": false, "/etc/passwd": false, "parsed/../../x": false,
	} {
		m := Manifest{
			Format:     Format,
			Definition: topics.Definition{Version: 1, Crawl: "weft", Partitions: 1, SuffixList: "a"},
			Logs:       []Log{{Topic: "parsed", File: file}},
		}
		dir := t.TempDir()
		if err := m.write(dir); err != nil {
			t.Fatal(err)
		}
		_, err := readManifest(dir)
		if local && err != nil || !local && (!errors.Is(err, ErrExport) || !strings.Contains(err.Error(), "outside its folder")) {
			t.Errorf("%q: %v", file, err)
		}
	}
}
