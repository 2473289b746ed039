package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// config is a YAML file of flags: "delay: 2s", "brokers: [a:9092, b:9092]". One
// file serves all subcommands. A key that is not a flag of any of them is an error.
type config struct {
	path   string
	values map[string]any
}

func readConfig(path string) (config, error) {
	c := config{path: path}
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("read configuration: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // the library takes it for a part of the first key
	if err := yaml.Unmarshal(text, &c.values); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // an excerpt of the file follows
		return c, fmt.Errorf("read configuration %s: %s", path, first)
	}
	return c, nil
}

// Validate reports a key that is not a flag.
func (c config) Validate(app *kong.Application) error {
	known := map[string]bool{}
	for _, command := range app.Leaves(false) {
		for _, flag := range slices.Concat(command.AllFlags(false)...) {
			known[flag.Name] = true
		}
	}
	for key := range c.values {
		if !known[key] || key == "help" || key == "config" || key == "version" {
			return fmt.Errorf("configuration %s: %q is not a flag", c.path, key)
		}
	}
	return nil
}

// Resolve gives a flag its value from the file, unless the environment has one.
func (c config) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value := c.values[flag.Name]
	if value == nil || len(flag.Envs) == 0 { // such as --delay of weft domain: an order, not an option
		return nil, nil
	}
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	switch value := value.(type) {
	case []any:
		return value, nil
	case map[string]any: // for flags such as --max-body-of
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			pairs = append(pairs, fmt.Sprintf("%s=%v", key, value[key]))
		}
		return strings.Join(pairs, ","), nil
	}
	return fmt.Sprint(value), nil
}

// configFile is --config. It loads the file before flags are resolved.
type configFile string

// BeforeResolve is called by kong when the flag is given or in the environment.
func (configFile) BeforeResolve(ctx *kong.Context, trace *kong.Path) error {
	path := string(ctx.FlagValue(trace.Flag).(configFile))
	if path == "" {
		return nil
	}
	c, err := readConfig(path)
	if err != nil {
		return err
	}
	ctx.AddResolver(c)
	return nil
}
