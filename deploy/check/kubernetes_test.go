package check

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	loose "sigs.k8s.io/yaml"
)

// Manifests are what kustomize makes of a folder, decoded.
type Manifests struct {
	Namespaces   []corev1.Namespace
	ConfigMaps   []corev1.ConfigMap
	Secrets      []corev1.Secret
	Services     []corev1.Service
	Deployments  []appsv1.Deployment
	StatefulSets []appsv1.StatefulSet
	Jobs         []batchv1.Job
	Budgets      []policyv1.PodDisruptionBudget
	Scaled       []ScaledObject
}

// BuildManifests runs kustomize on deploy/k8s/folder and decodes what comes out,
// strictly: a field that the API does not have is an error.
func BuildManifests(files fs.FS, folder string) (*Manifests, error) {
	memory := filesys.MakeFsInMemory()
	err := fs.WalkDir(files, "deploy/k8s", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return memory.WriteFile("/"+name, text)
	})
	if err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/deploy/k8s/"+folder)
	if err != nil {
		return nil, fmt.Errorf("kustomize: %w", err)
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	var m Manifests
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return &m, nil
		}
		if err == nil {
			err = m.add(document)
		}
		if err != nil {
			return nil, err
		}
	}
}

// add decodes one object.
func (m *Manifests) add(document []byte) error {
	var kind struct{ APIVersion, Kind string }
	if err := loose.Unmarshal(document, &kind); err != nil {
		return err
	}
	var err error
	switch kind.APIVersion + " " + kind.Kind {
	case "v1 Namespace":
		err = appendTo(&m.Namespaces, document)
	case "v1 ConfigMap":
		err = appendTo(&m.ConfigMaps, document)
	case "v1 Secret":
		err = appendTo(&m.Secrets, document)
	case "v1 Service":
		err = appendTo(&m.Services, document)
	case "apps/v1 Deployment":
		err = appendTo(&m.Deployments, document)
	case "apps/v1 StatefulSet":
		err = appendTo(&m.StatefulSets, document)
	case "batch/v1 Job":
		err = appendTo(&m.Jobs, document)
	case "policy/v1 PodDisruptionBudget":
		err = appendTo(&m.Budgets, document)
	case "keda.sh/v1alpha1 ScaledObject":
		if err = checkScaledObject(document); err == nil {
			var s ScaledObject
			err = loose.Unmarshal(document, &s)
			m.Scaled = append(m.Scaled, s)
		}
	default:
		err = errors.New("nothing here knows the kind")
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", kind.APIVersion, kind.Kind, err, document)
	}
	return nil
}

func appendTo[T any](list *[]T, document []byte) error {
	var object T
	asJSON, err := yaml.ToJSON(document)
	if err != nil {
		return err
	}
	unknown, err := json.UnmarshalStrict(asJSON, &object) // as the API server does
	*list = append(*list, object)
	return errors.Join(append(unknown, err)...)
}

func TestKubernetes(t *testing.T) {
	const (
		base      = "deploy/k8s/base/"
		example   = "deploy/k8s/example/kustomization.yaml"
		dedupe    = base + "dedupe.yaml"
		parse     = base + "parse.yaml"
		autoscale = base + "autoscaling.yaml"
	)
	t.Run("base", func(t *testing.T) { holds(t, Kubernetes("base"), nil) })
	holds(t, Kubernetes("example"), []mistake{
		{"field that the API does not have", dedupe, "serviceName:", "servicename:", "servicename"},
		{"wrong type", parse, "maxSurge: 1", "maxSurge: {}", "maxSurge"},
		{"file that is not there", base + "kustomization.yaml", "- fetch.yaml", "- fetches.yaml", "fetches.yaml"},
		{"port without a name", parse, "- { name: metrics, containerPort: 9100 }", "- { name: http, containerPort: 9100 }", `port "metrics"`},
		{"config map that is not there", parse, "configMapRef: { name: weft }", "configMapRef: { name: wefts }", "config map wefts"},
		{"variable that is no flag", example, "WEFT_CHECKPOINTS=", "WEFT_CHECKPOINT=", "no flag --checkpoint"},
		{"selector", parse, "matchLabels: { app.kubernetes.io/component: parse }", "matchLabels: { app.kubernetes.io/component: fetch }", "of 0 workloads"},
		{"budget", base + "disruption.yaml", "matchLabels: { app.kubernetes.io/component: normalize }", "matchLabels: { app.kubernetes.io/component: normal }", "budget weft-normalize"},
		{"service", dedupe, "serviceName: weft-dedupe", "serviceName: weft-schedule", "not its headless one"},
		{"port of a service", dedupe, "targetPort: metrics", "targetPort: http", `leads to port "http"`},
		{"root", parse, "runAsNonRoot: true", "runAsNonRoot: false", "run as root"},
		{"writable", parse, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "may write"},
		{"states without a claim", dedupe, "run, dedupe", "run, parse", "weft-dedupe is a StatefulSet"},
		{"data elsewhere", parse, "mountPath: /var/lib/weft", "mountPath: /data", "its data directory"},
		{"no time to end", parse, "terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 5", "no time to end"},
		{"scrape", parse, `prometheus.io/port: "9100"`, `prometheus.io/port: "9101"`, "where its metrics are"},
		{"archive without its stage", example, "components:\n  - ../archive\n", "", "the stage archive runs"},
		{"no temporary files", "deploy/k8s/archive/archive.yaml", "TMPDIR, value: /var/lib/weft", "TMPDIR, value: /tmp", "weft-archive has no place for temporary files"},
		{"unpinned", example, "newTag: v0.1.0", "newTag: latest", "not pinned"},
		{"KEDA field", autoscale, "minReplicaCount: 1", "minReplicas: 1", "minReplicas"},
		{"KEDA type", autoscale, "pollingInterval: 30", "pollingInterval: often", "pollingInterval"},
		{"KEDA setting", autoscale, "lagThreshold:", "lagTreshold:", "no setting lagTreshold"},
		{"KEDA topic", autoscale, "topic: weft.discovered", "topic: weft.fetched", "does not read"},
		{"KEDA group", autoscale, "consumerGroup: weft.parse", "consumerGroup: weft.parser", "looks at group"},
		{"KEDA target", autoscale, "name: weft-parse }", "name: weft-parser }", "weft-parser"},
		{"KEDA brokers", autoscale, "bootstrapServersFromEnv: WEFT_BROKERS", "bootstrapServersFromEnv: KAFKA", "takes brokers"},
		{"KEDA query", example, "sum(weft_fetch_slots_in_use", "sum(weft_slots", "exports no weft_slots"},
		{"more replicas than partitions", autoscale, "maxReplicaCount: 32", "maxReplicaCount: 64", "64 replicas"},
		{"another crawl", example, "delimiter: \".\", index: 0", "delimiter: \".\", index: 1", "looks at group"},
	})
}
