package traps

import (
	"strings"
	"testing"
)

func TestTemplates(t *testing.T) {
	for _, c := range []struct{ url, host, template string }{
		{"https://a.example/", "a.example", "/"},
		{"https://a.example:8443/about", "a.example:8443", "/{word}"},
		{"https://a.example/docs/guide/about-us.html", "a.example", "/docs/guide/{word}.html"},
		{"https://a.example/DOCS/Guide/About-Us.HTML", "a.example", "/docs/guide/{word}.html"},
		{"https://a.example/List?Size=m&size=l", "a.example", "/list?size"},
		{"https://a.example/docs/guide/deep/deeper/page", "a.example", "/docs/guide/{word}+"},
		{"https://a.example/docs/guide/deep/deeper/page.html", "a.example", "/docs/guide/{word}+/{word}.html"},
		{"https://a.example/item/4711", "a.example", "/item/{n}"},
		{"https://a.example/item/4711/", "a.example", "/item/{n}/"},
		{"https://a.example/item/red-shoe-42", "a.example", "/item/{word-n}"},
		{"https://a.example/list/page12", "a.example", "/list/page{n}"},
		{"https://a.example/list/page-12.html", "a.example", "/list/page-{n}.html"},
		{"https://a.example/list/page/12", "a.example", "/list/page/{n}"},
		{"https://a.example/list/page=12/", "a.example", "/list/page={n}/"},
		{"https://a.example/2024/05/01/title-of-it", "a.example", "/{year}/{n}+/{word}"},
		{"https://a.example/cal/2024-05-01", "a.example", "/cal/{date}"},
		{"https://a.example/cal/20240501.ics", "a.example", "/cal/{date}.ics"},
		{"https://a.example/cal/01.05.2024/x", "a.example", "/cal/{date}/{word}"},
		{"https://a.example/s/d41d8cd98f00b204/home", "a.example", "/s/{hash}/{word}"},
		{"https://a.example/s/550e8400-e29b-41d4-a716-446655440000/home", "a.example", "/s/{hash}/{word}"},
		{"https://a.example/s/x9k2Lq8v0Z/home", "a.example", "/s/{hash}/{word}"},
		{"https://a.example/page;jsessionid=1A2B", "a.example", "/{word};jsessionid"},
		{"https://a.example/%D0%BF%D1%80/x", "a.example", "/{word}+"},
		{"https://a.example/list?size=m&color=red&size=l", "a.example", "/list?color&size"},
		{"https://a.example/list?filter[12]=1&filter[13]=2", "a.example", "/list?{word-n}"},
		{"https://a.example/list?4711", "a.example", "/list?{n}"},
		{"https://a.example/list?print", "a.example", "/list?print"},
		{"https://a.example/shop/list?page=3", "a.example", "/shop/{word}?page"},
		{"https://a.example/red-shoes-12?page=3", "a.example", "/{word-n}?page"},
		{"https://a.example/list?", "a.example", "/{word}"},
		{"https://a.example/a#!state", "a.example", "/{word}"},
		{"https://a.example//", "a.example", "//"},
		{"", "", "/"},
	} {
		if host, template := Of(c.url); host != c.host || template != c.template {
			t.Errorf("%s is %q on %q, want %q on %q", c.url, template, host, c.template, c.host)
		}
	}
}

func TestReasons(t *testing.T) {
	for template, want := range map[string]Reason{
		"/cal/{date}":          Calendar,
		"/{year}/{n}+/{word}":  Calendar,
		"/calendar/{word}":     Calendar,
		"/list?month&year":     Calendar,
		"/month={n}/{word}":    Calendar,
		"/list/page{n}":        Pagination,
		"/list/page/{n}":       Pagination,
		"/list/page={n}/":      Pagination,
		"/list?page":           Pagination,
		"/list?offset&sort":    Pagination,
		"/s/{hash}/{word}":     Session,
		"/{word};jsessionid":   Session,
		"/list?page&phpsessid": Session,
		"/list?color&size":     Faceted,
		"/list?*":              Faceted,
		"/r/{hash}":            SameContent,
		"/list?q":              SameContent,
		"/blog/?s":             SameContent, // a search of WordPress
		"/page":                SameContent,
		"/page/{word}":         SameContent,
		"/":                    SameContent,
		"*":                    SameContent,
	} {
		if got := reasonOf(template); got != want {
			t.Errorf("%s is %q, want %q", template, got, want)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, url := range []string{
		"https://a.example/docs/guide/about-us.html?b=1&a=2", "https://a.example/2024/05/01/page12;x=1#y", "://?=&;/", "/a=/=b/;/%",
	} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		host, template := Of(url)
		if template == "" || template[0] != '/' {
			t.Fatalf("%q has the template %q", url, template)
		}
		if strings.ContainsFunc(template, func(c rune) bool { return 'A' <= c && c <= 'Z' }) {
			t.Fatalf("%q has the template %q", url, template)
		}
		if again, same := Of(url); again != host || same != template {
			t.Fatalf("%q has two templates", url)
		}
		reasonOf(template)
	})
}

func BenchmarkOf(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Of("https://docs.example.com/guide/section/page-12.html?lang=en")
	}
}
