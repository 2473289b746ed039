package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
