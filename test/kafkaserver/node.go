package kafkaserver

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/test/child"
)

// node is one broker, whether it runs or not.
type node struct {
	id    int32
	dir   string
	addrs map[string]string // host:port by name of the listener

	process *child.Process // nil before the first
}

func (n *node) data() string           { return filepath.Join(n.dir, "data") }
func (n *node) log() string            { return filepath.Join(n.dir, "broker.log") }
func (n *node) propertiesFile() string { return filepath.Join(n.dir, "server.properties") }

// format prepares the storage of a node whose server.properties are written. Kafka's own tool does
// that only with further arguments: without them it writes the same for each node, except for its
// ids, and takes a third of the CPU time of a start. `make kafka-fetch` kept what it wrote once.
func (n *node) format(in install, cluster string, more []string) error {
	if bootstrap, err := os.ReadFile(filepath.Join(in.jars, "bootstrap.checkpoint")); err == nil && len(more) == 0 {
		return n.formatAs(bootstrap, cluster)
	}
	args := append([]string{"format", "--cluster-id", cluster, "--config", n.propertiesFile()}, more...)
	out, err := in.tool(128, "kafka.tools.StorageTool", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("format the storage of broker %d: %w\n%s", n.id, err, out)
	}
	return nil
}

// formatAs prepares the storage as the tool did that wrote bootstrap.
func (n *node) formatAs(bootstrap []byte, cluster string) error {
	ids := fmt.Sprintf("version=1\nnode.id=%d\ncluster.id=%s\ndirectory.id=%s\n", n.id, cluster, newID())
	return errors.Join(
		os.MkdirAll(n.data(), 0o755),
		os.WriteFile(filepath.Join(n.data(), "meta.properties"), []byte(ids), 0o644),
		os.WriteFile(filepath.Join(n.data(), "bootstrap.checkpoint"), bootstrap, 0o644),
	)
}

// newID is an id as Kafka makes it.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[0] &= 0x7f           // else its text may begin with a hyphen, as an option of the tool does
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// heapMB is a broker's heap at most.
const heapMB = 384

// start starts the process, which appends to the node's log.
func (n *node) start(in install) error {
	log, err := os.OpenFile(n.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	cmd := in.tool(heapMB, "kafka.Kafka", n.propertiesFile())
	cmd.Stdout, cmd.Stderr = log, log
	defer log.Close()
	n.process, err = child.Start(cmd)
	return err
}

func (n *node) running() bool {
	if n.process == nil {
		return false
	}
	select {
	case <-n.process.Ended:
		return false
	default:
		return true
	}
}

// kill ends the process (-9) and waits for that.
func (n *node) kill() {
	if n.running() {
		n.process.Kill()
	}
}

// stopTimeout is how long a broker takes at most to hand over its partitions
// and close its logs.
const stopTimeout = 30 * time.Second

// stop ends the process as an operator does (SIGTERM).
func (n *node) stop() error {
	if err := n.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-n.process.Ended:
		return nil
	case <-time.After(stopTimeout):
		return fmt.Errorf("broker %d has not stopped within %v", n.id, stopTimeout)
	}
}

func (n *node) signal(s os.Signal) error {
	if !n.running() {
		return fmt.Errorf("broker %d does not run", n.id)
	}
	if err := n.process.Process.Signal(s); err != nil {
		return fmt.Errorf("signal broker %d: %w", n.id, err)
	}
	return nil
}
