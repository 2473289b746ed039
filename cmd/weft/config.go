package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// config is a YAML file of flags: "delay: 2s", "brokers: [a:9092, b:9092]". One
// file serves all subcommands; a key that is a flag of none is an error.
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
	if err := yaml.Unmarshal(text, &c.values); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // an excerpt of the file follows
		return c, fmt.Errorf("read configuration %s: %s", path, first)
	}
	return c, nil
}

// Validate names a key that is no flag.
func (c config) Validate(app *kong.Application) error {
	known := map[string]bool{}
	var walk func(*kong.Node)
	walk = func(node *kong.Node) {
		for _, flag := range node.Flags {
			known[flag.Name] = true
		}
		for _, child := range node.Children {
			walk(child)
		}
	}
	walk(app.Node)
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
	if value == nil {
		return nil, nil
	}
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	if list, isList := value.([]any); isList {
		return list, nil
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
