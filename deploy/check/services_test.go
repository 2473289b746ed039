package check

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
)

// stack is Apache Kafka and the S3 server of docker-compose.yml, run without
// containers: the same versions, with the settings that the file gives them, at
// addresses of this machine's.
type stack struct {
	kafka, s3 string // host:port
	// here puts these addresses in place of those in the file.
	here *strings.Replacer
}

// startStack starts both. They end with the test.
func startStack(t *testing.T, project *types.Project) stack {
	t.Helper()
	ports := freePorts(t, 4)
	s := stack{kafka: local(ports[0]), s3: local(ports[3])}
	s.here = strings.NewReplacer("kafka:9092", s.kafka, "s3:7070", s.s3)
	startKafka(t, project.Services["kafka"], ports)
	startGateway(t, project.Services["s3"], s.s3)
	return s
}

// tool is where make test has put a program, in the version of an image's tag.
func tool(t *testing.T, name, image string) string {
	t.Helper()
	_, tag, _ := strings.Cut(image, ":")
	path, err := filepath.Abs(filepath.Join(root, ".tools", name+"-"+tag))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		missing(t, fmt.Sprintf("%s runs %s, which make test puts into .tools: %v", composeFile, image, err))
	}
	return path
}

// missing skips a test, or fails it where CI=true.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// startKafka runs a broker as the image does: KAFKA_NUM_PARTITIONS is
// num.partitions in server.properties.
func startKafka(t *testing.T, service types.ServiceConfig, ports []int) {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		missing(t, "Apache Kafka needs Java 17")
	}
	jars, dir := tool(t, "kafka", service.Image)+"/*", t.TempDir()
	here := strings.NewReplacer(
		"://:9092", "://"+local(ports[0]), "://:9093", "://"+local(ports[1]), "://:9094", "://"+local(ports[2]),
		"kafka:9092", local(ports[0]), "kafka:9093", local(ports[1]), "127.0.0.1:9094", local(ports[2]),
		"/var/lib/kafka/data", dir+"/data",
	)
	var settings strings.Builder
	for name, value := range service.Environment {
		if key, ok := strings.CutPrefix(name, "KAFKA_"); ok && key != "HEAP_OPTS" {
			fmt.Fprintf(&settings, "%s=%s\n", strings.ToLower(strings.ReplaceAll(key, "_", ".")), here.Replace(*value))
		}
	}
	file := filepath.Join(dir, "server.properties")
	if err := os.WriteFile(file, []byte(settings.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	format := exec.Command(java, "-cp", jars, "kafka.tools.StorageTool", "format", "-t", *service.Environment["CLUSTER_ID"], "-c", file)
	if out, err := format.CombinedOutput(); err != nil {
		t.Fatalf("format: %v\n%s", err, out)
	}
	heap := strings.Fields(*service.Environment["KAFKA_HEAP_OPTS"])
	args := append(heap, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", jars, "kafka.Kafka", file)
	start(t, "kafka", exec.Command(java, args...))
}

// startGateway runs the entrypoint of the S3 server.
func startGateway(t *testing.T, service types.ServiceConfig, address string) {
	t.Helper()
	here := strings.NewReplacer("/data", t.TempDir(), "versitygw", filepath.Join(tool(t, "versitygw", service.Image), "versitygw"))
	var args []string
	for _, arg := range service.Entrypoint {
		args = append(args, here.Replace(arg))
	}
	gateway := exec.Command(args[0], args[1:]...)
	for name, value := range service.Environment {
		gateway.Env = append(gateway.Env, name+"="+strings.Replace(*value, ":7070", address, 1))
	}
	gateway.Env = append(gateway.Env, "PATH="+os.Getenv("PATH"))
	start(t, "s3", gateway)
	url := service.HealthCheck.Test[len(service.HealthCheck.Test)-1]
	await(t, strings.Replace(url, "127.0.0.1:7070", address, 1))
}

// start starts a process that is killed when the test ends; what it said is
// shown if the test failed.
func start(t *testing.T, name string, command *exec.Cmd) {
	t.Helper()
	said := new(strings.Builder)
	command.Stdout, command.Stderr = said, said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, said)
		}
	})
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", fmt.Sprint(port)) }

// freePorts are ports without a listener, each once.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for len(ports) < n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := listener.Addr().(*net.TCPAddr).Port
		listener.Close()
		if _, came := givenOut.LoadOrStore(port, true); !came {
			ports = append(ports, port)
		}
	}
	return ports
}

// givenOut are the ports of servers that may not have begun to listen.
var givenOut sync.Map

// patience is how long anything may take to come up on a busy machine.
const patience = 90 * time.Second
