package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/weftcrawl/weft/test/child"
)

// command fills the placeholders of a command line.
func command(line string, values map[string]string) []string {
	words := strings.Fields(line)
	for i, w := range words {
		for name, value := range values {
			w = strings.ReplaceAll(w, "{"+name+"}", value)
		}
		words[i] = w
	}
	return words
}

// start runs a program with its output in the file named log, appended.
func start(words []string, log string) (*child.Process, error) {
	if len(words) == 0 {
		return nil, errors.New("start a program: the command is empty")
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	return child.Start(cmd)
}

func runToEnd(ctx context.Context, words []string) error {
	if said, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("weft %s: %w\n%s", words[1], err, said)
	}
	return nil
}

// interrupt asks a program to end, and kills it after patience.
func interrupt(p *child.Process) error { return p.End(os.Interrupt, patience) }

// patience is how long a program may take to end after an interrupt.
const patience = 20 * time.Second

// cpu is the user and system time of a program that has ended.
func cpu(state *os.ProcessState) time.Duration { return state.UserTime() + state.SystemTime() }

// usage is what a finished program took.
type usage struct {
	wall, cpu time.Duration
	// peakKB is the high watermark of its resident memory. It is sampled from
	// /proc: ru_maxrss would also count what this process held at the fork.
	peakKB int64
	// growthKB is the same when 25, 50, 75 and 100 % of the pages had been
	// served; 0 where it ended before.
	growthKB [4]int64
}

// samplePeriod is how often memory is looked at; what a program allocates
// within the last such period of its life is missed.
const samplePeriod = 50 * time.Millisecond

// measure waits for a program. served counts the pages so far, of total.
func measure(ctx context.Context, p *child.Process, started time.Time, served func() (int64, error), total int64) (usage, error) {
	var u usage
	tick := time.NewTicker(samplePeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			p.Kill()
			return u, ctx.Err()
		case <-p.Ended:
			u.wall = time.Since(started)
			u.cpu = cpu(p.ProcessState)
			if p.Err != nil {
				return u, p.Err
			}
			n, err := served()
			u.reached(n, total)
			return u, err
		case <-tick.C:
			if kb, ok := peakKB(p.Process.Pid); ok {
				u.peakKB = kb
			}
			n, err := served()
			if err != nil {
				p.Kill()
				return u, err
			}
			u.reached(n, total)
		}
	}
}

// reached notes the peak so far at the quarters that n of total pages pass.
func (u *usage) reached(n, total int64) {
	for i := range u.growthKB {
		if u.growthKB[i] == 0 && n*4 >= total*int64(i+1) {
			u.growthKB[i] = u.peakKB
		}
	}
}

// peakKB is VmHWM of a process; false when it has ended.
func peakKB(pid int) (int64, bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, false
	}
	status, err := p.NewStatus()
	return int64(status.VmHWM / 1024), err == nil && status.VmHWM > 0
}
