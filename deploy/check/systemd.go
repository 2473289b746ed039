package check

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Unit is a systemd unit: values by section and key, in their order.
type Unit map[string]map[string][]string

// Units of deploy/systemd.
var Units = []string{"weft@.service", "weft-crawl.service"}

// ReadUnit reads a unit file (systemd.syntax(7)), as far as these use it: no
// continued lines, no quotes.
func ReadUnit(files fs.FS, name string) (Unit, error) {
	text, err := fs.ReadFile(files, "deploy/systemd/"+name)
	if err != nil {
		return nil, err
	}
	unit, section := Unit{}, ""
	for number, line := range strings.Split(string(text), "\n") {
		key, value, pair := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[' && line[len(line)-1] == ']':
			section = line[1 : len(line)-1]
			unit[section] = map[string][]string{}
		case pair && section != "" && regexp.MustCompile(`^[A-Z][A-Za-z]+$`).MatchString(key):
			unit[section][key] = append(unit[section][key], value)
		default:
			return nil, fmt.Errorf("%s, line %d: %q is neither a section nor a setting", name, number+1, line)
		}
	}
	return unit, nil
}

// Service of a unit, by key; of several values, all with spaces between them.
func (u Unit) Service(key string) string { return strings.Join(u["Service"][key], " ") }

// Systemd says what is wrong with the units and the files beside them. What
// systemd itself says is asked by a test where it is installed.
func Systemd(files fs.FS) error {
	flags, err := Flags(files)
	if err != nil {
		return err
	}
	var p problems
	for _, name := range Units {
		unit, err := ReadUnit(files, name)
		if err != nil {
			return err
		}
		p.unit(name, unit, flags)
	}
	text, err := fs.ReadFile(files, "deploy/systemd/weft.env")
	if err != nil {
		return err
	}
	var names []string
	for _, match := range regexp.MustCompile(`(?m)^(?:# )?([A-Z_]+)=`).FindAllSubmatch(text, -1) {
		names = append(names, string(match[1]))
	}
	p.variables("weft.env", flags, names)
	var settings map[string]any
	if text, err = fs.ReadFile(files, "deploy/systemd/crawl.yaml"); err == nil {
		err = yaml.UnmarshalStrict(text, &settings)
	}
	if err != nil {
		return err
	}
	for key := range settings {
		if !flags[key] {
			p.addf("crawl.yaml: weft has no flag --%s", key)
		}
	}
	return p.joined()
}

func (p *problems) unit(name string, unit Unit, flags map[string]bool) {
	for _, section := range []string{"Unit", "Service", "Install"} {
		if unit[section] == nil {
			p.addf("%s has no section %s", name, section)
		}
	}
	for key, want := range map[string]string{
		"Restart": "on-failure", "RestartPreventExitStatus": "2", "DynamicUser": "yes",
		"ProtectSystem": "strict", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "LimitNOFILE": "65536", "TimeoutStopSec": "15",
	} {
		if got := unit.Service(key); got != want || unit["Service"][key] == nil {
			p.addf("%s: %s is %q, not %q", name, key, got, want)
		}
	}
	if command := strings.Fields(unit.Service("ExecStart")); len(command) < 2 || command[0] != "/usr/bin/weft" {
		p.addf("%s starts %q", name, command)
	}
	var names []string
	for _, assignment := range unit["Service"]["Environment"] {
		variable, value, _ := strings.Cut(assignment, "=")
		names = append(names, variable)
		if variable == "WEFT_DATA" && !slices.Contains([]string{"/var/lib/" + unit.Service("StateDirectory")}, value) {
			p.addf("%s: the data directory %s is not the StateDirectory", name, value)
		}
	}
	p.variables(name, flags, names)
	if !slices.Contains(names, "WEFT_DATA") {
		p.addf("%s has no data directory", name)
	}
}
