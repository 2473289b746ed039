package kafkaserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weftcrawl/weft/test/child"
)

type install struct{ java, jars string }

// Need skips a test that cannot run because Java, or a version of Apache Kafka,
// is not there, and says so. With CI=true it fails instead.
func Need(t testing.TB, version string) {
	t.Helper()
	if _, err := find(version); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func find(version string) (install, error) {
	jars, err := child.Tool("kafka-" + version)
	if err != nil {
		return install{}, fmt.Errorf("needs Apache Kafka %s, see make kafka-fetch: %w", version, err)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return install{}, errors.New("needs Java 17 to run Apache Kafka: make kafka-fetch says what to install")
	}
	return install{java, jars}, nil
}

// tool is a command that runs a class of Apache Kafka with a heap of at most so
// many megabytes. Tests end too soon for the optimising compiler to pay.
// Classes come from the archive that `make kafka-fetch` made; Java ignores one that is
// missing or does not fit.
func (i install) tool(heapMB int, class string, args ...string) *exec.Cmd {
	return exec.Command(i.java, append([]string{
		"-Xms64m", fmt.Sprintf("-Xmx%dm", heapMB), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-XX:SharedArchiveFile=" + filepath.Join(i.jars, "classes.jsa"), "-Xshare:auto", "-Xlog:disable",
		"-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-cp", filepath.Join(i.jars, "*"), class,
	}, args...)...)
}
