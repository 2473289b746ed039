package kafkatest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// node is one broker, whether it runs or not.
type node struct {
	id    int32
	dir   string
	addrs map[string]string // host:port by name of the listener

	process *os.Process
	ended   chan struct{} // closed when the process has ended; nil before the first
}

func (n *node) data() string           { return filepath.Join(n.dir, "data") }
func (n *node) log() string            { return filepath.Join(n.dir, "broker.log") }
func (n *node) propertiesFile() string { return filepath.Join(n.dir, "server.properties") }

// format prepares the storage of a node whose server.properties are written.
func (n *node) format(in install, cluster string, more []string) error {
	args := append([]string{"format", "--cluster-id", cluster, "--config", n.propertiesFile()}, more...)
	out, err := in.tool(128, "kafka.tools.StorageTool", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("format the storage of broker %d: %w\n%s", n.id, err, out)
	}
	return nil
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
	cmd.SysProcAttr = attributes()
	started := make(chan error, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer log.Close()
		// The process is to end with this one, which Linux understands as with
		// the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the log tells
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start broker %d: %w", n.id, err)
	}
	n.process, n.ended = cmd.Process, ended
	return nil
}

// running tells whether the node has a process.
func (n *node) running() bool {
	if n.ended == nil {
		return false
	}
	select {
	case <-n.ended:
		return false
	default:
		return true
	}
}

// kill ends the process (-9) and waits for that.
func (n *node) kill() {
	if n.running() {
		_ = n.process.Kill() // it may have ended meanwhile
		<-n.ended
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
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-n.ended:
		return nil
	case <-timer.C:
		return fmt.Errorf("broker %d has not stopped within %v", n.id, stopTimeout)
	}
}

func (n *node) signal(s os.Signal) error {
	if !n.running() {
		return fmt.Errorf("broker %d does not run", n.id)
	}
	if err := n.process.Signal(s); err != nil {
		return fmt.Errorf("signal broker %d: %w", n.id, err)
	}
	return nil
}
