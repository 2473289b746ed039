package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// childConfig is the environment variable that makes the test binary an owner
// of the test's partition: its value is an owner as JSON.
const childConfig = "WEFT_TEST_CHILD"

func TestMain(m *testing.M) {
	if config := os.Getenv(childConfig); config != "" {
		os.Exit(childMain(config))
	}
	goleak.VerifyTestMain(m)
}

// owner is an owner in a process of its own, which can be killed and stopped.
type owner struct {
	Brokers         []string
	Dir, Member     string
	CheckpointEvery time.Duration
	Instance        string
	SessionMS       int // 0: as the world's
}

// childMain is the main function of an owner's process. It reports what
// happens on standard output and ends when its standard input does.
func childMain(config string) int {
	var own owner
	if err := json.Unmarshal([]byte(config), &own); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1) // the test is gone
	}()
	w := &world{brokers: own.Brokers, dir: own.Dir}
	o := w.options()
	o.Member, o.CheckpointEvery, o.Instance = own.Member, own.CheckpointEvery, own.Instance
	if own.SessionMS > 0 {
		o.SessionTimeout = time.Duration(own.SessionMS) * time.Millisecond
	}
	o.Observe = func(kind string, _ int32) { fmt.Println(kind) }
	if err := Run(context.Background(), w.stage(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// process is a running owner.
type process struct {
	*tally
	cmd           *exec.Cmd
	started, dead chan struct{}
}

// process makes an owner over the world's broker; otherwise it is like the world's other owners.
func (w *world) process(own owner) *process {
	w.t.Helper()
	own.Brokers = w.brokers
	if own.Dir == "" {
		own.Dir = w.dir
	}
	if own.Member == "" {
		own.Member = "m1"
	}
	if own.CheckpointEvery == 0 {
		own.CheckpointEvery = time.Hour
	}
	config, err := json.Marshal(own)
	check(w.t, err)
	p := &process{tally: newTally(w.t), cmd: exec.Command(os.Args[0]), started: make(chan struct{}), dead: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childConfig+"="+string(config))
	p.cmd.Stderr = os.Stderr
	return p
}

// start starts the process. It does not outlive the test.
func (p *process) start() {
	p.t.Helper()
	_, err := p.cmd.StdinPipe() // open as long as the test lives
	check(p.t, err)
	out, err := p.cmd.StdoutPipe()
	check(p.t, err)
	check(p.t, p.cmd.Start())
	close(p.started)
	go func() {
		defer close(p.dead)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.add(lines.Text())
		}
		_ = p.cmd.Wait() // says that it was killed
	}()
	p.t.Cleanup(p.kill)
}

// kill ends the process as kill -9 does, and returns when it is gone.
func (p *process) kill() {
	<-p.started
	_ = p.cmd.Process.Kill()
	<-p.dead
}

// freeze stops the process where it is; thaw lets it go on.
func (p *process) freeze() { check(p.t, p.cmd.Process.Signal(syscall.SIGSTOP)) }
func (p *process) thaw()   { check(p.t, p.cmd.Process.Signal(syscall.SIGCONT)) }
