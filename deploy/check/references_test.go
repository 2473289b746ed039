package check

import (
	"fmt"
	"io/fs"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Kubernetes says what is wrong with the manifests of a folder: whether each
// object is what the API takes, and whether what they say of each other is true.
func Kubernetes(folder string) func(files fs.FS) error {
	return func(files fs.FS) error {
		m, err := BuildManifests(files, folder)
		if err != nil {
			return err
		}
		flags, err := Flags(files)
		if err != nil {
			return err
		}
		known, err := golden(files)
		if err != nil {
			return err
		}
		var p problems
		var stages []string
		for _, w := range m.Workloads() {
			if len(w.Pod.Spec.Containers) != 1 {
				p.addf("%s has %d containers", w.Name, len(w.Pod.Spec.Containers))
				continue
			}
			p.pinned(w.Name, w.Weft().Image)
			p.restricted(w)
			p.sources(m, w)
			environment := m.Environment(w)
			p.variables(w.Name, flags, keys(environment))
			if w.Kind == "Job" {
				continue
			}
			stages = append(stages, w.stage())
			p.probed(w)
			p.mounted(w, environment)
			p.selected(w.Kind+" "+w.Name, w.Selector, []Workload{w}, 1)
			p.scraped(w)
			if w.Stateful != (w.stage() == "dedupe" || w.stage() == "schedule" || w.stage() == Archive) {
				p.addf("%s is a %s", w.Name, w.Kind)
			}
		}
		for _, stage := range Stages {
			if !slices.Contains(stages, stage) {
				p.addf("nothing runs the stage %s", stage)
			}
		}
		p.services(m)
		for _, b := range m.Budgets {
			p.selected("budget "+b.Name, b.Spec.Selector, m.Workloads(), 1)
		}
		if slices.Contains(stages, Archive) != (m.definition()["WEFT_ARCHIVE"] != "") {
			p.addf("the stage archive runs, or the crawl has an archive, and not both")
		}
		if len(m.Budgets) != len(stages) {
			p.addf("%d budgets for %d stages", len(m.Budgets), len(stages))
		}
		p.scaled(m, known)
		return p.joined()
	}
}

// sources of the environment exist, or may be missing.
func (p *problems) sources(m *Manifests, w Workload) {
	there := map[string]bool{}
	for _, c := range m.ConfigMaps {
		there["config map "+c.Name] = true
	}
	for _, s := range m.Secrets {
		there["secret "+s.Name] = true
	}
	for _, from := range w.Weft().EnvFrom {
		name, optional := "", (*bool)(nil)
		switch {
		case from.ConfigMapRef != nil:
			name, optional = "config map "+from.ConfigMapRef.Name, from.ConfigMapRef.Optional
		case from.SecretRef != nil:
			name, optional = "secret "+from.SecretRef.Name, from.SecretRef.Optional
		}
		if !there[name] && (optional == nil || !*optional) {
			p.addf("%s takes its environment from %s, which is not there", w.Name, name)
		}
	}
}

// selected are exactly want of the workloads.
func (p *problems) selected(who string, selector *metav1.LabelSelector, among []Workload, want int) {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		p.addf("%s: %w", who, err)
		return
	}
	if n := len(matching(s, among)); n != want {
		p.addf("%s selects the pods of %d workloads, not of %d", who, n, want)
	}
}

func matching(s labels.Selector, among []Workload) (matched []Workload) {
	for _, w := range among {
		if s.Matches(labels.Set(w.Pod.Labels)) {
			matched = append(matched, w)
		}
	}
	return matched
}

// scraped pods say where their metrics are.
func (p *problems) scraped(w Workload) {
	a := w.Pod.Annotations
	for _, port := range w.Weft().Ports {
		if port.Name == "metrics" && a["prometheus.io/scrape"] == "true" && a["prometheus.io/path"] == "/metrics" &&
			a["prometheus.io/port"] == fmt.Sprint(port.ContainerPort) {
			return
		}
	}
	p.addf("%s does not say where its metrics are", w.Name)
}

// services lead to the port of one workload, and StatefulSets have one each.
func (p *problems) services(m *Manifests) {
	governed := map[string]bool{}
	for _, s := range m.Services {
		matched := matching(labels.SelectorFromSet(s.Spec.Selector), m.Workloads())
		if len(matched) != 1 {
			p.addf("service %s selects the pods of %d workloads", s.Name, len(matched))
			continue
		}
		for _, port := range s.Spec.Ports {
			if !slices.ContainsFunc(matched[0].Weft().Ports, func(c corev1.ContainerPort) bool { return c.Name == port.TargetPort.StrVal }) {
				p.addf("service %s leads to port %q, which %s does not have", s.Name, port.TargetPort.String(), matched[0].Name)
			}
		}
		governed[s.Name+" governs "+matched[0].Name] = s.Spec.ClusterIP == corev1.ClusterIPNone
	}
	for _, w := range m.Workloads() {
		if w.Stateful && !governed[w.Governor+" governs "+w.Name] {
			p.addf("StatefulSet %s names the service %q, which is not its headless one", w.Name, w.Governor)
		}
	}
}
