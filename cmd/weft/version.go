package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// described is what `git describe` said when the Makefile built the program
// (-ldflags "-X main.described=…"); empty in other builds.
var described string

type versionCmd struct{}

func (versionCmd) Run(std streams) error { return writeVersion(std.out) }

func writeVersion(to io.Writer) error {
	_, err := fmt.Fprintf(to, "weft %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// versionFlag prints the version as the command version does.
type versionFlag bool

// errVersionAsked ends the parsing of a command line with --version.
var errVersionAsked = errors.New("the version is asked for")

// BeforeReset is called by kong, before it reports that a command is missing.
func (versionFlag) BeforeReset() error { return errVersionAsked }

// version names the program in `weft version` and in the User-Agent.
func version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(described, info)
}

// undescribed is the version of a build without any of that.
const undescribed = "devel"

// versionOf is the output of git describe. Without one it is what the Go toolchain
// stamped into the binary: a tag or a pseudo-version with the commit, or the commit.
func versionOf(described string, info *debug.BuildInfo) string {
	switch {
	case described != "":
		return described
	case info == nil:
		return undescribed
	case info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit := settings["vcs.revision"]
	if commit == "" {
		return undescribed
	}
	commit = commit[:min(len(commit), 12)]
	if settings["vcs.modified"] == "true" {
		commit += "-dirty"
	}
	return commit
}
