package main

import "testing"

func TestHosts(t *testing.T) {
	for about, want := range map[string]string{
		"example.com": "example.com", "WWW.Example.com": "www.example.com", "example.com:8080": "example.com",
		"localhost": "localhost", "127.0.0.1": "127.0.0.1", "::1": "[::1]", "[::1]:80": "[::1]", "bücher.example": "xn--bcher-kva.example",
		"": "", " ": "", "two words": "", "example.com/": "", "example.com?": "", "user@example.com": "", "example.com#": "",
		"mailto:a@b": "", "1.2.3.4.5": "",
	} {
		host, err := hostOf(about)
		if host != want || (err != nil) != (want == "") || err != nil && !isUsage(err) {
			t.Errorf("%q: %q, %v; want %q", about, host, err, want)
		}
	}
}
