package crawl

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// memberName is this process's stable name in consumer groups: it is kept in
// the data directory, beside the states of the partitions that are ours.
func memberName(o Options) (string, error) {
	path := filepath.Join(o.Dir, "member")
	raw, err := os.ReadFile(path)
	if err == nil && len(raw) > 0 {
		return strings.TrimSpace(string(raw)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read member name: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "weft"
	}
	name := host + "-" + strings.ToLower(rand.Text()[:8])
	if err := os.WriteFile(path, []byte(name+"\n"), 0o644); err != nil {
		return "", fmt.Errorf("%w: write member name: %w", ErrUsage, err)
	}
	return name, nil
}
