package settings

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/processors/fetch/addresses"
	"github.com/weftcrawl/weft/processors/fetch/httpclient"
	"github.com/weftcrawl/weft/topics"
)

// Only a crawl with an archive keeps bodies as they came.
func TestArchiveKeepsCodedBodies(t *testing.T) {
	without := ClientOptions(httpclient.DefaultOptions(), topics.Definition{})
	with := ClientOptions(httpclient.DefaultOptions(), topics.Definition{Archive: topics.InData})
	if without.KeepCoded || !with.KeepCoded {
		t.Errorf("kept without %v, with %v", without.KeepCoded, with.KeepCoded)
	}
}

func TestCheckDefinition(t *testing.T) {
	good := topics.Definition{Scope: "host", MaxDepth: -1, DelayMS: 1000, PerDomain: 1, UserAgent: "weft/1"}
	if err := CheckDefinition(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*topics.Definition){
		"scope":      func(d *topics.Definition) { d.Scope = "galaxy" },
		"pattern":    func(d *topics.Definition) { d.Exclude = []string{"("} },
		"strip rule": func(d *topics.Definition) { d.StripParams = []string{"sid=maybe"} },
		"address":    func(d *topics.Definition) { d.AddressExempt = []string{"10.1.2.3"} },
		"delay":      func(d *topics.Definition) { d.DelayMS = -1 },
		"per domain": func(d *topics.Definition) { d.PerDomain = 65 },
		"user agent": func(d *topics.Definition) { d.UserAgent = "weft\r\nX: y" },
		"archive":    func(d *topics.Definition) { d.ArchiveFile = -1 },
		"compress":   func(d *topics.Definition) { d.ArchiveCompress = "lz4" },
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

// Addresses have their own delay, unless the crawl's is shorter or people name another.
func TestAddressOptions(t *testing.T) {
	for name, c := range map[string]struct {
		d      topics.Definition
		delay  time.Duration
		atOnce int
	}{
		"by default":          {topics.Definition{DelayMS: 1000}, 50 * time.Millisecond, 8},
		"a crawl without one": {topics.Definition{}, 0, 8},
		"a short one":         {topics.Definition{DelayMS: 20}, 20 * time.Millisecond, 8},
		"named":               {topics.Definition{DelayMS: 20, AddressDelayMS: 200, PerAddress: 2}, 200 * time.Millisecond, 2},
		"none":                {topics.Definition{DelayMS: 1000, AddressDelayMS: -1, PerAddress: -1}, 0, 0},
	} {
		o := AddressOptions(addresses.DefaultOptions(), c.d)
		if o.Delay != c.delay || o.AtOnce != c.atOnce || len(o.Exempt) == 0 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	only := AddressOptions(addresses.DefaultOptions(), topics.Definition{AddressExempt: []string{"192.0.2.0/24"}})
	if len(only.Exempt) != 1 || only.Exempt[0].String() != "192.0.2.0/24" {
		t.Errorf("exempt are %v", only.Exempt)
	}
}
