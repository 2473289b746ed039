package crawl

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weftcrawl/weft/internal/dirlock"
	"github.com/weftcrawl/weft/topics"
)

// instances are the ids by which this process is a static member of its stages' groups
// (KIP-345). A process that is killed and started again joins with the old id: within the
// session of the dead process it has its partitions at once, and no other member notices.
//
// A fetcher that takes over at once must know that the old process makes no request any more.
// The proof has two parts. The system releases a lock when a process has ended, but not when
// it is frozen. The id is kept for one boot of the machine, because a lock says nothing about
// another machine to which the directory was copied. Without a proof the process has a new id,
// and the session of the old one runs out.
type instances struct {
	ids   map[topics.Stage]string
	locks []*dirlock.Lock
}

// instancesDir is the folder of instance ids in a data directory.
const instancesDir = "instances"

// takeInstances takes the ids of stages for member in the data directory dir. A stage that
// another process runs with the same directory has no id here.
func takeInstances(dir, crawl, member, boot string, stages []topics.Stage) (*instances, error) {
	held := &instances{ids: map[topics.Stage]string{}}
	if boot == "" {
		return held, nil
	}
	for _, stage := range stages {
		name := crawl + "." + string(stage)
		lock, err := dirlock.Take(filepath.Join(dir, instancesDir), name+".lock")
		if errors.Is(err, dirlock.ErrInUse) {
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %w", ErrUsage, err), held.release())
		}
		held.locks = append(held.locks, lock)
		if held.ids[stage], err = instance(filepath.Join(dir, instancesDir, name), boot, member); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %w", ErrUsage, err), held.release())
		}
	}
	return held, nil
}

// instance is the id in the file path, if it was written in this boot for this member, or a new
// id.
func instance(path, boot, member string) (string, error) {
	line, err := readLine(path)
	if err != nil {
		return "", fmt.Errorf("read instance id: %w", err)
	}
	prefix := legal(member) + "-"
	if of, id, ok := strings.Cut(line, " "); ok && of == boot && strings.HasPrefix(id, prefix) && id == legal(id) {
		return id, nil
	}
	id := prefix + newSuffix()
	if err := os.WriteFile(path, []byte(boot+" "+id+"\n"), 0o644); err != nil {
		return "", fmt.Errorf("write instance id: %w", err)
	}
	return id, nil
}

// legal changes name to an id that Kafka permits for a static member: the characters and the
// length of a topic's name.
func legal(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 200)]
}

func (i *instances) release() error {
	var errs []error
	for _, lock := range i.locks {
		errs = append(errs, lock.Release())
	}
	return errors.Join(errs...)
}

// memberName is this process's stable name in consumer groups. It is in the data directory,
// beside the states of this process's partitions.
func memberName(o Options) (string, error) {
	path := filepath.Join(o.Dir, "member")
	name, err := readLine(path)
	if err != nil {
		return "", fmt.Errorf("read member name: %w", err)
	}
	if name != "" {
		return name, nil
	}
	host, err := os.Hostname()
	if err != nil {
		host = "weft"
	}
	name = host + "-" + newSuffix()
	if err := os.WriteFile(path, []byte(name+"\n"), 0o644); err != nil {
		return "", fmt.Errorf("%w: write member name: %w", ErrUsage, err)
	}
	return name, nil
}

// readLine reads a file of one line; empty if it does not exist.
func readLine(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.TrimSpace(string(raw)), err
}

func newSuffix() string { return strings.ToLower(rand.Text()[:8]) }
