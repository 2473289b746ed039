package crawl

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weftcrawl/weft/dirlock"
	"github.com/weftcrawl/weft/topics"
)

// instances are the ids by which this process is a static member of its stages'
// groups (KIP-345). A process that is killed and started again joins by the id
// of the one before: within the session of the dead one it has its partitions
// at once, and no other member notices.
//
// A fetcher that takes over at once must know that the one before makes no
// request any more. The proof is a lock, which the system gives back when a
// process has ended, not when it is frozen; and the boot of the machine, since
// a lock says nothing of another machine to which the directory was copied. So
// an id is kept for one boot. Without a proof the process has a new id, and the
// session of the old one runs out as for any member that is silent.
type instances struct {
	ids   map[topics.Stage]string
	locks []*dirlock.Lock
}

// takeInstances takes the ids of stages in the data directory dir, member's. A
// stage that another process runs with the same directory has none here.
func takeInstances(dir, crawl, member, boot string, stages []topics.Stage) (*instances, error) {
	held := &instances{ids: map[topics.Stage]string{}}
	if boot == "" {
		return held, nil
	}
	for _, stage := range stages {
		name := crawl + "." + string(stage)
		lock, err := dirlock.Take(filepath.Join(dir, "instances"), name+".lock")
		if errors.Is(err, dirlock.ErrInUse) {
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %w", ErrUsage, err), held.release())
		}
		held.locks = append(held.locks, lock)
		if held.ids[stage], err = instance(filepath.Join(dir, "instances", name), boot, member); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %w", ErrUsage, err), held.release())
		}
	}
	return held, nil
}

// instance is the id that the file path holds, if it was written under this
// boot for this member, or a new one.
func instance(path, boot, member string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read instance id: %w", err)
	}
	prefix := legal(member) + "-"
	if of, id, ok := strings.Cut(strings.TrimSpace(string(raw)), " "); ok && of == boot && strings.HasPrefix(id, prefix) && id == legal(id) {
		return id, nil
	}
	id := prefix + strings.ToLower(rand.Text()[:8])
	if err := os.WriteFile(path, []byte(boot+" "+id+"\n"), 0o644); err != nil {
		return "", fmt.Errorf("write instance id: %w", err)
	}
	return id, nil
}

// legal is name with nothing but what Kafka permits in the id of a static
// member, which are the characters and the length of a topic's name.
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

// of are the ids; of nothing there are none.
func (i *instances) of() map[topics.Stage]string {
	if i == nil {
		return nil
	}
	return i.ids
}

// release gives the ids back.
func (i *instances) release() error {
	var errs []error
	for _, lock := range i.locks {
		errs = append(errs, lock.Release())
	}
	return errors.Join(errs...)
}
