package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// container is weft with the arguments and the environment that a file gives
// it, and nothing else in the environment, as in a container.
type container struct {
	name    string
	args    []string
	env     map[string]string
	metrics string // host:port

	command *exec.Cmd
	said    strings.Builder
}

// newContainer gives weft a directory and a port of its own instead of those
// that only a container has.
func newContainer(t *testing.T, name string, args []string, env map[string]string) *container {
	t.Helper()
	c := &container{name: name, args: args, env: maps.Clone(env)}
	c.env["WEFT_DATA"] = t.TempDir()
	if c.env["WEFT_METRICS"] != "" {
		c.metrics = local(freePorts(t, 1)[0])
		c.env["WEFT_METRICS"] = c.metrics
	}
	return c
}

func (c *container) with(t *testing.T, ctx context.Context) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(ctx, weft(t), c.args...)
	command.Env = []string{}
	for name, value := range c.env {
		command.Env = append(command.Env, name+"="+value)
	}
	return command
}

// completes runs it until it ends with success, starting it again as restart:
// on-failure does, and returns what it printed.
func (c *container) completes(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		out, err := c.with(t, ctx).CombinedOutput()
		if err == nil {
			return string(out)
		}
		var exit *exec.ExitError
		if ctx.Err() != nil || errors.As(err, &exit) && exit.ExitCode() == 2 {
			t.Fatalf("%s (%v): %v\n%s", c.name, c.args, err, out)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// start starts it; stops must follow.
func (c *container) start(t *testing.T) {
	t.Helper()
	c.command = c.with(t, context.WithoutCancel(t.Context()))
	c.command.Stdout, c.command.Stderr = &c.said, &c.said
	if err := c.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.command.Process.Kill() })
}

// stops sends what docker, Kubernetes and systemd send, and waits for success
// within grace.
func (c *container) stops(t *testing.T, grace time.Duration) {
	t.Helper()
	if err := c.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("%s is gone: %v\n%s", c.name, err, &c.said)
		return
	}
	kill := time.AfterFunc(grace, func() { _ = c.command.Process.Kill() })
	defer kill.Stop()
	if err := c.command.Wait(); err != nil {
		t.Errorf("%s does not end well within %v: %v\n%s", c.name, grace, err, &c.said)
	}
}

// await returns what is at a URL once that answers with 200.
func await(t *testing.T, url string) string {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		response, err := http.Get(url)
		if err == nil {
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return string(body)
			}
			err = fmt.Errorf("status %d: %s", response.StatusCode, body)
		}
		if time.Now().After(deadline) {
			t.Fatalf("GET %s: %v", url, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
