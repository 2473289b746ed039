package topics

import (
	"bytes"
	"testing"
)

// A record of config is refused, or is a definition that stays the same when it is
// written again.
func FuzzDefinition(f *testing.F) {
	f.Add([]byte(`{"version":1,"crawl":"weft","partitions":4,"suffix_list":"a","scope":"host","max_depth":-1,"delay_ms":1000,"per_domain":1,"user_agent":""}`))
	f.Add([]byte(`{"version":1,"crawl":"weft","partitions":1,"suffix_list":"a","allow_networks":["10.0.0.0/8"],"control":{"paused":["fetch"]}}`))
	f.Add([]byte(`{"version":9}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, value []byte) {
		_, _ = decodeControl(value) // its record is a definition's with a field more
		d, err := decodeDefinition(value)
		if err != nil {
			return
		}
		first, err := d.encode(record{})
		if err != nil {
			t.Fatalf("a definition that was read cannot be written: %v", err)
		}
		again, err := decodeDefinition(first)
		if err != nil {
			t.Fatalf("a definition that was written cannot be read: %v", err)
		}
		second, err := again.encode(record{})
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s, written again %s, %v", first, second, err)
		}
		if err := d.Agrees(again); err != nil {
			t.Fatal(err)
		}
	})
}
