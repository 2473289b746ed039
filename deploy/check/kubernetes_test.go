package check

import "testing"

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
