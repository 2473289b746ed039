package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	stamped := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "b5f874676b22c0ffee00c0ffee00c0ffee00c0ff"}
	for name, test := range map[string]struct {
		described string
		info      *debug.BuildInfo
		want      string
	}{
		"git describe wins":        {"v1.2.0-3-gb5f8746", stamped("v1.2.0"), "v1.2.0-3-gb5f8746"},
		"the toolchain's version":  {"", stamped("v1.2.0", revision), "v1.2.0"},
		"the commit":               {"", stamped("(devel)", revision), "b5f874676b22"},
		"a commit that is changed": {"", stamped("", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "b5f874676b22-dirty"},
		"nothing is stamped":       {"", stamped("(devel)"), "devel"},
		"there is no information":  {"", nil, "devel"},
	} {
		if got := versionOf(test.described, test.info); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
