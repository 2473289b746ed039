package settings

import (
	"testing"

	"github.com/weftcrawl/weft/topics"
)

func TestCheckDefinition(t *testing.T) {
	good := topics.Definition{Scope: "host", MaxDepth: -1, DelayMS: 1000, PerDomain: 1, UserAgent: "weft/1"}
	if err := CheckDefinition(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*topics.Definition){
		"scope":      func(d *topics.Definition) { d.Scope = "galaxy" },
		"pattern":    func(d *topics.Definition) { d.Exclude = []string{"("} },
		"strip rule": func(d *topics.Definition) { d.StripParams = []string{"sid=maybe"} },
		"delay":      func(d *topics.Definition) { d.DelayMS = -1 },
		"per domain": func(d *topics.Definition) { d.PerDomain = 65 },
		"user agent": func(d *topics.Definition) { d.UserAgent = "weft\r\nX: y" },
		"max body":   func(d *topics.Definition) { d.MaxBody, d.Bodies = MaxBody+1, topics.InData },
		"threshold":  func(d *topics.Definition) { d.BodyThreshold = topics.LargestInRecord + 1 },
		"body larger than a record, without a place": func(d *topics.Definition) { d.MaxBody = topics.LargestInRecord + 1 },
	} {
		d := good
		spoil(&d)
		if err := CheckDefinition(d); err == nil {
			t.Errorf("a definition with a bad %s passed", name)
		}
	}
}
