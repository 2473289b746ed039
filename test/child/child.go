// Package child runs the programs that tests and benchmarks need: servers, brokers, and
// what is measured. They end with the process that started them, where the system
// allows that.
package child

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Process is a program that was started.
type Process struct {
	*exec.Cmd
	// Ended is closed when the program has ended. Err is then what Wait returned.
	Ended chan struct{}
	Err   error
}

// Start starts a program.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{Cmd: cmd, Ended: make(chan struct{})}
	cmd.SysProcAttr = attributes()
	started := make(chan error, 1)
	go func() {
		defer close(p.Ended)
		// For Linux the parent is the thread that started the program.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p.Err = cmd.Start()
		started <- p.Err
		if p.Err == nil {
			p.Err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// Kill ends the program at once, and waits until it is gone.
func (p *Process) Kill() {
	_ = p.Process.Kill() // it may be gone already
	<-p.Ended
}

// End asks the program to end by a signal, and kills it after patience. It returns the
// program's own error.
func (p *Process) End(signal os.Signal, patience time.Duration) error {
	_ = p.Process.Signal(signal) // it may be gone already
	select {
	case <-p.Ended:
		return p.Err
	case <-time.After(patience):
		p.Kill()
		return fmt.Errorf("%s did not end %v after the signal %v", p.Path, patience, signal)
	}
}

// Listens waits until the program takes connections at an address.
func (p *Process) Listens(ctx context.Context, addr string) error {
	for {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not listen: %w", p.Path, err)
		case <-p.Ended:
			return fmt.Errorf("%s has ended: %w", p.Path, errors.Join(p.Err, err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Tool is the path of what make has put into .tools of the module: the last of those
// that match a pattern.
func Tool(pattern string) (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		var found []string
		found, err = filepath.Glob(filepath.Join(dir, ".tools", pattern))
		if len(found) > 0 {
			return slices.Max(found), nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("there is no .tools/%s here or above", pattern)
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}
