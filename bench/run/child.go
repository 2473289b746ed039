package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
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

// child is a measured program.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has been waited for
	err  error         // of Wait; read after done
}

// start runs a program with its output in the file named log, appended.
func start(words []string, log string) (*child, error) {
	if len(words) == 0 {
		return nil, errors.New("start a program: the command is empty")
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	c := &child{cmd: exec.Command(words[0], words[1:]...), done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = out, out
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", words[0], err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// interrupt asks the program to end, and kills it after patience.
func (c *child) interrupt(patience time.Duration) error {
	_ = c.cmd.Process.Signal(os.Interrupt) // it may be gone already
	select {
	case <-c.done:
		return c.err
	case <-time.After(patience):
		c.kill()
		return fmt.Errorf("%s did not end %v after an interrupt", c.cmd.Path, patience)
	}
}

// kill ends the program at once and waits until it is gone.
func (c *child) kill() {
	_ = c.cmd.Process.Signal(syscall.SIGKILL) // it may be gone already
	<-c.done
}

// cpu is the user and system time of a program that has ended.
func (c *child) cpu() time.Duration {
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
}

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

// measure waits for the program. served counts the pages so far, of total.
func (c *child) measure(ctx context.Context, started time.Time, served func() (int64, error), total int64) (usage, error) {
	var u usage
	tick := time.NewTicker(samplePeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			c.kill()
			return u, ctx.Err()
		case <-c.done:
			u.wall = time.Since(started)
			u.cpu = c.cpu()
			if c.err != nil {
				return u, c.err
			}
			n, err := served()
			u.reached(n, total)
			return u, err
		case <-tick.C:
			if kb, ok := peakKB(c.cmd.Process.Pid); ok {
				u.peakKB = kb
			}
			n, err := served()
			if err != nil {
				c.kill()
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
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kb, err == nil
		}
	}
	return 0, false
}
