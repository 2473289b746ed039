package main

import "testing"

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{
		"1": 1, "1048576": 1 << 20, "10B": 10, "512KiB": 512 << 10, "1MiB": 1 << 20, "3 MiB": 3 << 20, "2GiB": 2 << 30, "4TiB": 4 << 40,
	} {
		var got byteSize
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is %d (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "MiB", "1.5MiB", "1MB", "1mib", "1e6", "9999999999999999999", "99999999GiB"} {
		var got byteSize
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
