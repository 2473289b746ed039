package kafkatest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// install is an Apache Kafka that can be run.
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

// find finds a version of Apache Kafka and Java.
func find(version string) (install, error) {
	root, err := moduleRoot()
	if err != nil {
		return install{}, err
	}
	jars := filepath.Join(root, ".tools", "kafka-"+version)
	if _, err := os.Stat(jars); err != nil {
		return install{}, fmt.Errorf("needs Apache Kafka %s in %s: make kafka-fetch", version, jars)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return install{}, errors.New("needs Java 17 to run Apache Kafka: make kafka-fetch says what to install")
	}
	return install{java, jars}, nil
}

// moduleRoot is the directory of go.mod: tests run in that of their package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", errors.New("there is no go.mod here or above")
		}
		dir = above
	}
}

// tool is a command that runs a class of Apache Kafka with a heap of at most so
// many megabytes. Tests end too soon for the optimising compiler to pay.
func (i install) tool(heapMB int, class string, args ...string) *exec.Cmd {
	return exec.Command(i.java, append([]string{
		"-Xms64m", fmt.Sprintf("-Xmx%dm", heapMB), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-cp", filepath.Join(i.jars, "*"), class,
	}, args...)...)
}
