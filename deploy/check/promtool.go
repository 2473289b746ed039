package check

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// Promtool says what promtool says of deploy/prometheus: of the configuration,
// of the alerts, and of the tests that say on which series they fire.
func Promtool(files fs.FS) error {
	dir, err := os.MkdirTemp("", "prometheus")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	prometheus, err := fs.Sub(files, "deploy/prometheus")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, prometheus); err != nil {
		return err
	}
	var p problems
	for _, args := range [][]string{
		{"check", "config", filepath.Join(dir, "prometheus.yml")},
		{"test", "rules", filepath.Join(dir, "alerts_test.yml")},
	} {
		said, err := exec.Command("go", append([]string{"tool", "promtool"}, args...)...).CombinedOutput()
		if err != nil {
			p = append(p, fmt.Errorf("promtool %s %s: %w\n%s", args[0], args[1], err, said))
		}
	}
	return p.joined()
}
