package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/test/child"
	"github.com/weftcrawl/weft/test/freeport"
)

// kafkaFlags say which cluster a measurement is made on.
type kafkaFlags struct {
	brokers, jars, properties string
	pid                       int
}

func registerKafka(f *flag.FlagSet) *kafkaFlags {
	k := &kafkaFlags{}
	f.StringVar(&k.brokers, "brokers", "", "`brokers` of a cluster, instead of an Apache Kafka broker of its own")
	f.IntVar(&k.pid, "broker-pid", 0, "`process` of the one broker of -brokers, if it runs here")
	f.StringVar(&k.jars, "kafka", ".tools/kafka-4.1.0", "`directory` of Apache Kafka's jars; make kafka-fetch brings them")
	f.StringVar(&k.properties, "kafka-properties", "deploy/kafka/server.properties", "`file` of the broker's settings")
	return k
}

// start starts the broker, unless there is a cluster already.
func (k *kafkaFlags) start(ctx context.Context, dir string) (*kafkaBroker, error) {
	if k.brokers != "" {
		return &kafkaBroker{addr: k.brokers, pid: k.pid, name: k.brokers}, nil
	}
	started, err := startKafka(ctx, k.jars, k.properties, filepath.Join(dir, "kafka"))
	if err != nil {
		return nil, err
	}
	started.name = "Apache Kafka, " + filepath.Base(k.jars) + ", one broker on the same machine"
	return started, nil
}

// kafkaBroker is an Apache Kafka broker of our own, configured as by `make kafka` except for its
// ports, or a cluster that was there.
type kafkaBroker struct {
	child *child.Process // nil: not ours
	addr  string
	pid   int    // 0: elsewhere
	name  string // what it is
}

// cpu is the broker's processor time so far, 0 if it runs elsewhere.
func (k *kafkaBroker) cpu() (time.Duration, error) {
	if k.pid == 0 {
		return 0, nil
	}
	return processCPU(k.pid)
}

func (k *kafkaBroker) end() {
	if k.child != nil {
		k.child.Kill()
	}
}

// startKafka starts a broker with the jars of a directory, its data in dir, and
// waits until it accepts connections.
func startKafka(ctx context.Context, jars, properties, dir string) (*kafkaBroker, error) {
	if found, _ := filepath.Glob(filepath.Join(jars, "kafka_*.jar")); len(found) == 0 {
		return nil, fmt.Errorf("there is no Apache Kafka in %s: make kafka-fetch brings it, or name -brokers", jars)
	}
	text, err := os.ReadFile(properties)
	if err != nil {
		return nil, err
	}
	addrs, err := freeport.Loopback(2)
	if err != nil {
		return nil, err
	}
	file, log := filepath.Join(dir, "server.properties"), filepath.Join(dir, "broker.log")
	text = []byte(strings.NewReplacer("127.0.0.1:9092", addrs[0], "127.0.0.1:9093", addrs[1], "@DATA@", filepath.Join(dir, "log")).Replace(string(text)))
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(file, text, 0o644)); err != nil {
		return nil, err
	}
	java := []string{"java", "-Xms512m", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(jars, "*")}
	format, err := start(append(java[:len(java):len(java)], "kafka.tools.StorageTool", "format", "-t", "d2VmdC1jb3N0LWJlbmNoLQ", "-c", file), log)
	if err != nil {
		return nil, err
	}
	if <-format.Ended; format.Err != nil {
		return nil, fmt.Errorf("format Kafka's storage: %w%s", format.Err, lastLines(log))
	}
	c, err := start(append(java, "kafka.Kafka", file), log)
	if err != nil {
		return nil, err
	}
	if err := c.Listens(ctx, addrs[0]); err != nil {
		c.Kill()
		return nil, fmt.Errorf("the broker: %w%s", err, lastLines(log))
	}
	return &kafkaBroker{child: c, addr: addrs[0], pid: c.Process.Pid}, nil
}

type clusterCrawl struct{ bin, brokers, crawl string }

func (c clusterCrawl) command(args ...string) []string {
	return append(append([]string{filepath.Join(c.bin, "weft")}, args...), "--brokers", c.brokers, "--crawl", c.crawl)
}

func (c clusterCrawl) weft(ctx context.Context, args ...string) error {
	return runToEnd(ctx, c.command(args...))
}

func (c clusterCrawl) create(ctx context.Context, partitions int, delay time.Duration) error {
	return c.weft(ctx, "topics", "create", "--partitions", strconv.Itoa(partitions), "--delay", delay.String(), "--allow-private", "--scope", "host", "--sitemaps", "off")
}

// start starts a process of stages with a data directory of its own, beside which its
// log is.
func (c clusterCrawl) start(stages, data string, flags ...string) (*child.Process, error) {
	return start(append(c.command("run", stages, "--data", data), flags...), data+".log")
}
