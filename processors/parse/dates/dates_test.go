package dates

import (
	"testing"
	"time"
)

func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"2005": "2005-01-01T00:00:00Z", "2005-02": "2005-02-01T00:00:00Z", "2005-02-03": "2005-02-03T00:00:00Z",
		"2005-02-03T04:05Z": "2005-02-03T04:05:00Z", "2005-02-03T04:05:06Z": "2005-02-03T04:05:06Z", "2005-02-03T04:05:06.78+01:00": "2005-02-03T03:05:06Z",
		"2005-02-03T04:05+01:00": "2005-02-03T03:05:00Z", "2005-02-03t04:05:06z": "2005-02-03T04:05:06Z", "2005-02-03T04:05:06": "2005-02-03T04:05:06Z",
		"2005-02-03T04:05:06+0100": "2005-02-03T03:05:06Z", "2005-02-03 04:05:06": "2005-02-03T04:05:06Z", "2005-02-03 04:05:06 +0100": "2005-02-03T03:05:06Z",
		"2005-02-03 04:05:06+01:00": "2005-02-03T03:05:06Z", " 2005-2-3\n": "2005-02-03T00:00:00Z", "2005/02/03": "2005-02-03T00:00:00Z", "20050203": "2005-02-03T00:00:00Z",
		"3.2.2005": "2005-02-03T00:00:00Z", "Thu, 03 Feb 2005 04:05:06 GMT": "2005-02-03T04:05:06Z", "1107403506": "2005-02-03T04:05:06Z", "1107403506000": "2005-02-03T04:05:06Z",
		"2005-02-03T25:61:00Z": "2005-02-03T00:00:00Z", "2005-02-03T00:00:00-00:00": "2005-02-03T00:00:00Z", "February 3, 2005": "2005-02-03T00:00:00Z",
		"2005-02-03Z": "2005-02-03T00:00:00Z", "2005-02-03T04Z": "2005-02-03T04:00:00Z", "Thu Feb  3 04:05:06 2005": "2005-02-03T04:05:06Z",
		"Thu, 03 Feb 2005 04:05:06 EST": "2005-02-03T09:05:06Z", "Thu, 3 Feb 2005 04:05 PDT": "2005-02-03T11:05:00Z", "Thu Feb  3 04:05:06 CST 2005": "2005-02-03T10:05:06Z",
		"2005-02-03 04:05:06 CEST": "2005-02-03T02:05:06Z", "Thu, 03 Feb 2005 04:05:06 UTC": "2005-02-03T04:05:06Z", "2005-02-03 04:05:06 JST": "2005-02-03T04:05:06Z",
		"Thu Feb 03 2005 04:05:06 GMT+0100 (Central European Standard Time)": "2005-02-03T03:05:06Z", "Thu, 03 Feb 2005 04:05:06 +0100 (CET)": "2005-02-03T03:05:06Z",
		"": "", "0000-00-00": "", "yesterday": "", "2005-13-01": "", "0001-01-01T00:00:00Z": "", "99999-01-01": "", "-1": "",
	} {
		got := ""
		if d := Parse(text); !d.IsZero() {
			got = d.UTC().Truncate(time.Second).Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// What a date means does not depend on where the machine is.
func TestZonesOfTheMachine(t *testing.T) {
	local := time.Local
	defer func() { time.Local = local }()
	for _, place := range []*time.Location{time.UTC, time.FixedZone("JST", 9*60*60), time.FixedZone("EST", -5*60*60)} {
		time.Local = place
		for text, want := range map[string]string{
			"Thu, 03 Feb 2005 04:05:06 JST": "2005-02-03T04:05:06Z", "Thu, 03 Feb 2005 04:05:06 EST": "2005-02-03T09:05:06Z",
		} {
			if got := Parse(text).Format(time.RFC3339); got != want {
				t.Errorf("%q is %q in %s, want %q", text, got, place, want)
			}
		}
	}
}

func TestFormat(t *testing.T) {
	for text, want := range map[string]string{
		"2024": "2024", " 2024-05 ": "2024-05", "2024-05-01": "2024-05-01", "20240501": "2024-05-01", "May 1, 2024": "2024-05-01",
		"2024-05-01T10:20:30+02:00": "2024-05-01T08:20:30Z", "1714558830": "2024-05-01T10:20:30Z", "20240501T102030Z": "2024-05-01T10:20:30Z",
		"2024 (2nd edition)": "2024", "Wed May 01 2024 12:20:30 GMT+0200 (CEST)": "2024-05-01T10:20:30Z", "soon": "", "": "",
	} {
		if got := Format(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// A date is a moment within the years of the web, or none.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"2020-01-02", "Mon, 02 Jan 2006 15:04:05 MST", "1107403506", "2005-02-03T25:61:00Z", "t"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d := Parse(text); !d.IsZero() && (d.Year() < firstYear-1 || d.Year() > lastYear+1) {
			t.Fatalf("%q is %v", text, d)
		}
	})
}
