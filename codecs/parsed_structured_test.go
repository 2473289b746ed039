package codecs

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawStructured(t *rapid.T) ParsedStructuredData {
	s := drawString()
	date := rapid.Ptr(rapid.Custom(func(t *rapid.T) ParsedDate {
		return ParsedDate{Date: s.Draw(t, "date"), Source: s.Draw(t, "source"), Property: s.Draw(t, "property")}
	}), true)
	return ParsedStructuredData{
		Items: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedItem {
			return ParsedItem{Source: s.Draw(t, "source"), Types: rapid.SliceOfN(s, 0, 2).Draw(t, "types"), ID: s.Draw(t, "id"), Properties: drawProperties(t, 2)}
		}), 0, 2).Draw(t, "items"),
		OpenGraph: drawProperties(t, 1), Twitter: drawProperties(t, 0), DublinCore: drawProperties(t, 0),
		Published: date.Draw(t, "published"), Modified: date.Draw(t, "modified"),
		Authors: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedAuthor {
			return ParsedAuthor{Name: s.Draw(t, "name"), URL: s.Draw(t, "url"), Source: s.Draw(t, "source")}
		}), 0, 2).Draw(t, "authors"),
		Breadcrumbs: rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedCrumb {
			return ParsedCrumb{Name: s.Draw(t, "name"), URL: s.Draw(t, "url")}
		}), 1, 2), 0, 2).Draw(t, "breadcrumbs"),
		Prices: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedPrice {
			return ParsedPrice{
				Amount: s.Draw(t, "amount"), Highest: s.Draw(t, "highest"), Currency: s.Draw(t, "currency"), Item: s.Draw(t, "item"),
				Availability: s.Draw(t, "availability"), Source: s.Draw(t, "source"),
			}
		}), 0, 2).Draw(t, "prices"),
		Problems: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedProblem {
			return ParsedProblem{Source: s.Draw(t, "source"), Problem: s.Draw(t, "problem"), Where: s.Draw(t, "where")}
		}), 0, 2).Draw(t, "problems"),
		ProblemsOmitted: rapid.IntRange(0, 2).Draw(t, "omitted"),
	}
}

// drawProperties has names that are valid UTF-8: encoding/json sorts others in another order.
func drawProperties(t *rapid.T, depth int) ParsedProperties {
	return ParsedProperties(rapid.MapOfN(rapid.StringMatching(`[a-z:"/é]{0,8}`), rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ParsedValue {
		return drawValue(t, depth)
	}), 1, 2), 0, 2).Draw(t, "properties"))
}

func drawValue(t *rapid.T, depth int) (v ParsedValue) {
	some := rapid.StringN(1, 9, -1)
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		if depth > 0 {
			v.Item = &ParsedItem{ID: some.Draw(t, "id"), Properties: drawProperties(t, depth-1)}
		}
	case 1:
		v.URL = some.Draw(t, "url")
	case 2:
		v.Number = json.Number(rapid.SampledFrom([]string{"0", "-1.5", "1e9", "12345678901234567890"}).Draw(t, "number"))
	case 3:
		v.Bool = new(rapid.Bool().Draw(t, "bool"))
	case 4:
		v.Text, v.Language = some.Draw(t, "text"), some.Draw(t, "language")
	default:
		v.Text = some.Draw(t, "text")
	}
	return v
}

// Structured data that is written and read again is the same.
func TestStructuredRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := drawProperties(rt, 3)
		var got ParsedProperties
		if err := json.Unmarshal(appendValue(nil, want), &got); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.Transformer("empty", func(p ParsedProperties) map[string][]ParsedValue {
			if len(p) == 0 {
				return nil
			}
			return p
		})); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// What is not a value is refused.
func TestValueRefuses(t *testing.T) {
	for _, data := range []string{``, `[]`, `{"url":1}`, `{"types":1}`, `null x`} {
		var v ParsedValue
		if err := json.Unmarshal([]byte(data), &v); err == nil {
			t.Errorf("%s is %+v", data, v)
		}
	}
}
