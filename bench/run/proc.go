package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// processCPU is the processor time of a running process, of user and system.
func processCPU(pid int) (time.Duration, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	stat, err := p.Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second)), err
}

// diskBytes is the size of the files in a directory, each counted once however
// many names it has: a checkpoint links to the tables of its store.
func diskBytes(dir string) (total int64, err error) {
	seen := map[uint64]bool{}
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			if seen[stat.Ino] {
				return nil
			}
			seen[stat.Ino] = true
		}
		total += info.Size()
		return nil
	})
	return total, err
}

func machine() string {
	name := runtime.GOARCH
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
			name = cmp.Or(cpus[0].ModelName, name)
		}
	}
	return fmt.Sprintf("%s, %d cores, %s, %s", name, runtime.NumCPU(), runtime.GOOS, runtime.Version())
}
