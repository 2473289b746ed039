package check

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// ScaledObject is what is looked at of KEDA's.
type ScaledObject struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		ScaleTargetRef  struct{ Kind, Name string }
		MinReplicaCount int
		MaxReplicaCount int
		PollingInterval int
		CooldownPeriod  int
		Advanced        map[string]any
		Triggers        []struct {
			Type     string
			Metadata map[string]string
		}
	}
}

//go:embed testdata/scaledobject.schema.yaml
var scaledObjectSchema []byte

// checkScaledObject validates a document against KEDA's own schema. Like the API
// server in strict mode it takes no field that the schema does not have.
func checkScaledObject(document []byte) error {
	var schema, object any
	if err := yaml.Unmarshal(scaledObjectSchema, &schema); err != nil {
		return err
	}
	if err := yaml.Unmarshal(document, &object); err != nil {
		return err
	}
	shut(schema.(map[string]any)["properties"].(map[string]any)["spec"])
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("scaledobject", schema); err != nil {
		return err
	}
	compiled, err := compiler.Compile("scaledobject")
	if err != nil {
		return err
	}
	return compiled.Validate(object)
}

// shut takes no properties but those that are named.
func shut(schema any) {
	switch schema := schema.(type) {
	case map[string]any:
		if _, open := schema["additionalProperties"]; !open && schema["properties"] != nil {
			schema["additionalProperties"] = false
		}
		for _, part := range schema {
			shut(part)
		}
	case []any:
		for _, part := range schema {
			shut(part)
		}
	}
}

// triggerKeys are the settings of KEDA's scalers that the files may use.
// From pkg/scalers/kafka_scaler.go and prometheus_scaler.go.
var triggerKeys = map[string][]string{
	"kafka": {"bootstrapServers", "bootstrapServersFromEnv", "consumerGroup", "topic", "lagThreshold", "activationLagThreshold",
		"offsetResetPolicy", "allowIdleConsumers", "excludePersistentLag", "limitToPartitionsWithLag", "sasl", "tls", "version"},
	"prometheus": {"serverAddress", "query", "threshold", "activationThreshold", "ignoreNullValues"},
}

// inputs of the stages.
var inputs = map[string][]string{
	"normalize": {"seeds", "discovered"},
	"dedupe":    {"normalized"},
	"schedule":  {"deduped", "visited"},
	"fetch":     {"scheduled"},
	"parse":     {"fetched"},
}

// scaled are the stages that keep nothing, by the lag of their own group in a
// topic that they read, with the brokers of their own environment.
func (p *problems) scaled(m *Manifests, known Series) {
	left := map[string]Workload{}
	for _, w := range m.Workloads() {
		if w.Kind == "Deployment" {
			left[w.Name] = w
		}
	}
	for _, s := range m.Scaled {
		w, ok := left[s.Spec.ScaleTargetRef.Name]
		if !ok || s.Spec.ScaleTargetRef.Kind != w.Kind {
			p.addf("%s scales %s %s, which is not there", s.Name, s.Spec.ScaleTargetRef.Kind, s.Spec.ScaleTargetRef.Name)
			continue
		}
		delete(left, w.Name)
		environment := m.Environment(w)
		if most := fmt.Sprint(s.Spec.MaxReplicaCount); most != m.partitions() {
			p.addf("%s has %s replicas at most and the crawl %s partitions", s.Name, most, m.partitions())
		}
		for _, t := range s.Spec.Triggers {
			for key := range t.Metadata {
				if !slices.Contains(triggerKeys[t.Type], key) {
					p.addf("%s: the scaler %s has no setting %s", s.Name, t.Type, key)
				}
			}
			if t.Type == "prometheus" {
				p.expression(s.Name, t.Metadata["query"], known)
				continue
			}
			crawl := environment["WEFT_CRAWL"]
			if from := t.Metadata["bootstrapServersFromEnv"]; environment[from] == "" {
				p.addf("%s takes brokers from %q, which is not in the environment of %s", s.Name, from, w.Name)
			}
			if t.Metadata["consumerGroup"] != crawl+"."+w.stage() {
				p.addf("%s looks at group %s", s.Name, t.Metadata["consumerGroup"])
			}
			if topic, ok := strings.CutPrefix(t.Metadata["topic"], crawl+"."); !ok || !slices.Contains(inputs[w.stage()], topic) {
				p.addf("%s looks at topic %s, which %s does not read", s.Name, t.Metadata["topic"], w.stage())
			}
		}
	}
	for name := range left {
		p.addf("%s has no number of replicas and nothing that scales it", name)
	}
}

// partitions that the crawl is created with.
func (m *Manifests) partitions() string { return m.definition()["WEFT_PARTITIONS"] }

// definition is the environment of the job that creates the topics.
func (m *Manifests) definition() map[string]string {
	for _, w := range m.Workloads() {
		if w.Kind == "Job" {
			return m.Environment(w)
		}
	}
	return nil
}
