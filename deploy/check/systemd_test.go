package check

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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

func TestSystemd(t *testing.T) {
	const (
		stage = "deploy/systemd/weft@.service"
		crawl = "deploy/systemd/weft-crawl.service"
	)
	holds(t, Systemd, []mistake{
		{"line that is no setting", stage, "Restart=on-failure", "Restart on-failure", "neither a section nor a setting"},
		{"restarts after a wrong configuration", crawl, "RestartPreventExitStatus=2", "RestartPreventExitStatus=3", "RestartPreventExitStatus"},
		{"data elsewhere", stage, "StateDirectory=weft/%i", "StateDirectory=weft", "not the StateDirectory"},
		{"variable that is no flag", stage, "Environment=WEFT_DATA", "Environment=WEFT_DIR", "no flag --dir"},
		{"other binary", crawl, "/usr/bin/weft crawl", "/usr/local/bin/weft crawl", "starts"},
		{"variable in the example", "deploy/systemd/weft.env", "WEFT_BROKERS", "WEFT_BROKER", "no flag --broker"},
		{"key in the example", "deploy/systemd/crawl.yaml", "compress:", "compression:", "no flag --compression"},
	})
}

// systemd knows every setting of the units, and finds them hardened.
func TestUnitsBySystemd(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	verify := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, strings.Replace(name, "@.", "@fetch.", 1))
		text = strings.Replace(text, "/usr/bin/weft", weft(t), 1)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(analyze, "verify", "--man=no", path).CombinedOutput()
		if err != nil {
			out = append(out, err.Error()...)
		}
		var own []string // it also speaks of the machine's units
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, "weft") || strings.Contains(line, "exit status") {
				own = append(own, line)
			}
		}
		return strings.Join(own, "")
	}
	for _, name := range Units {
		text := string(repository(t)["deploy/systemd/"+name].Data)
		if out := verify(name, text); out != "" {
			t.Errorf("%s:\n%s", name, out)
		}
		if out := verify(name, strings.Replace(text, "ProtectHome=", "ProtectHouse=", 1)); !strings.Contains(out, "ProtectHouse") {
			t.Errorf("%s: an unknown setting is not noticed: %q", name, out)
		}
		path := filepath.Join(root, "deploy/systemd", name)
		// Exposure is 0 to 10, in tenths here; most services of a distribution have 9.6.
		if out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=20", path).CombinedOutput(); err != nil {
			t.Errorf("%s is exposed: %v\n%s", name, err, out)
		}
	}
}
