package crawl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/crawl"
)

// childConfig is the environment variable that makes the test binary a
// crawler: its value is a process as JSON.
const childConfig = "WEFT_TEST_CHILD"

// process is a crawl in a process of its own.
type process struct {
	Dir     string
	DelayMS int64
	Seeds   []string
	WARC    bool
	// Archive and ArchiveFile of the definition.
	Archive     string
	ArchiveFile int64
	// Brokers of a cluster; empty: the embedded one.
	Brokers []string
	// SessionMS is how long the sessions of groups last; 0: as in a crawl.
	SessionMS int64
	// Off is how far its clock is off; see settable. Nil: not at all.
	Off []time.Duration
	// Pages is a file for pages; empty: files in Dir.
	Pages string
	// Reserve of free disk, in bytes; 0: the crawl's own.
	Reserve int64
	// MaxBody and Bodies of the definition.
	MaxBody int64
	Bodies  string
	// Copies are crawled however many pages of a site have the same text.
	Copies bool
}

// childMain is the main function of a process. It ends as cmd/weft does: an
// interrupt stops it, an error is one line and status 1.
func childMain(config string) int {
	var p process
	if err := json.Unmarshal([]byte(config), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	result, err := crawl.Run(ctx, p.options())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(result.Ended)
	return 0
}

func (p process) options() crawl.Options {
	o := configured(p.Dir)
	o.Definition.DelayMS, o.Definition.MaxBody, o.Definition.Bodies = p.DelayMS, p.MaxBody, p.Bodies
	o.Definition.Archive, o.Definition.ArchiveFile = p.Archive, p.ArchiveFile
	if p.Copies {
		o.Definition.TrapEvidence = -1
	}
	o.Cluster.Brokers = p.Brokers
	if p.SessionMS > 0 {
		session := time.Duration(p.SessionMS) * time.Millisecond
		o.Fetch.SessionTimeout, o.Fetch.Heartbeat, o.Fetch.LeaseMargin = session, session/10, session/4
	}
	if len(p.Off) > 0 {
		o.Clock = settable(p.Off)
	}
	o.WARC, o.Reserve, o.Pages.File = p.WARC, p.Reserve, p.Pages
	for _, seed := range p.Seeds {
		o.Seeds = append(o.Seeds, []byte(seed))
	}
	return o
}

// child is a process that was started.
type child struct {
	cmd      *exec.Cmd
	ended    chan struct{} // closed when it was waited for
	out, err bytes.Buffer  // read after ended
}

// start starts the process. It does not outlive the test.
func (p process) start(t *testing.T) *child {
	t.Helper()
	config, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childConfig+"="+string(config))
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.err
	if os.Getenv("WEFT_TEST_LOG") != "" {
		c.cmd.Stderr = io.MultiWriter(&c.err, os.Stderr)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.cmd.Wait() // the state tells
		close(c.ended)
	}()
	t.Cleanup(func() { c.kill() })
	return c
}

// signal sends a signal to a process that may have ended.
func (c *child) signal(s syscall.Signal) { _ = c.cmd.Process.Signal(s) }

// kill ends the process (−9) and returns the moment at which it was gone, in
// nanoseconds since 1970.
func (c *child) kill() int64 {
	c.signal(syscall.SIGKILL)
	<-c.ended
	return time.Now().UnixNano()
}

// end waits until the process ends by itself and returns its status, and what
// it wrote to standard output and to standard error.
func (c *child) end(t *testing.T) (status int, out, err string) {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		c.signal(syscall.SIGQUIT) // goroutines go to standard error
		<-c.ended
		t.Fatalf("the crawler did not end within %v:\n%s", patience, c.err.String())
	}
	return c.cmd.ProcessState.ExitCode(), c.out.String(), c.err.String()
}

// patience is how long a test waits for what must happen.
const patience = 4 * time.Minute

// drains runs the process until its crawl is drained.
func (p process) drains(t *testing.T) {
	t.Helper()
	p.start(t).drains(t)
}

func (c *child) drains(t *testing.T) {
	t.Helper()
	if status, out, err := c.end(t); status != 0 || out != crawl.EndedDrained+"\n" {
		t.Fatalf("ended %q with status %d:\n%s", out, status, err)
	}
}

// fails waits for the process to end with status 1 and one clear sentence,
// which holds the given words.
func (c *child) fails(t *testing.T, words ...string) {
	t.Helper()
	status, _, err := c.end(t)
	if status != 1 || strings.Count(err, "\n") != 1 || len(err) > 500 {
		t.Errorf("ended with status %d and not with one sentence:\n%s", status, err)
	}
	for _, w := range words {
		if !strings.Contains(err, w) {
			t.Errorf("nothing of %q in: %s", w, err)
		}
	}
}
