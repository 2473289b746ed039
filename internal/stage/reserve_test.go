package stage

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/topics"
)

// What a stage sees of the disk is what Below says, and what holds the stage.
func TestReserve(t *testing.T) {
	for name, c := range map[string]struct {
		dir   string
		bytes int64
		below string
	}{
		"a byte is to be kept free":                 {t.TempDir(), 1, ""},
		"more than any disk has is to be kept free": {t.TempDir(), 1 << 60, "below --disk-reserve 1099511627776 MiB"},
		"the file system says nothing":              {"/does/not/exist", 1 << 60, ""},
	} {
		env := Env{Dir: c.dir, Reserve: NewReserve(c.bytes)}
		if said := env.Reserve.Below(); said != "" {
			t.Errorf("%s: nobody has looked, and it says %q", name, said)
		}
		low, stop := WatchReserve(t.Context(), env, topics.Stage(""))
		if said := env.Reserve.Below(); low.Load() != (c.below != "") || !strings.HasSuffix(said, c.below) || (said == "") != (c.below == "") {
			t.Errorf("%s: holds %v, and it says %q", name, low.Load(), said)
		}
		stop()
	}
}
