package check

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workload is what runs pods.
type Workload struct {
	Kind, Name string
	Stateful   bool
	Selector   *metav1.LabelSelector // nil: a Job's
	Pod        corev1.PodTemplateSpec
	Claims     []corev1.PersistentVolumeClaim
	Governor   string // the service of a StatefulSet
}

// Workloads are all that run pods.
func (m *Manifests) Workloads() (all []Workload) {
	for _, d := range m.Deployments {
		all = append(all, Workload{Kind: "Deployment", Name: d.Name, Selector: d.Spec.Selector, Pod: d.Spec.Template})
	}
	for _, s := range m.StatefulSets {
		all = append(all, Workload{
			Kind: "StatefulSet", Name: s.Name, Stateful: true, Selector: s.Spec.Selector, Pod: s.Spec.Template,
			Claims: s.Spec.VolumeClaimTemplates, Governor: s.Spec.ServiceName,
		})
	}
	for _, j := range m.Jobs {
		all = append(all, Workload{Kind: "Job", Name: j.Name, Pod: j.Spec.Template})
	}
	return all
}

// Weft is the one container of a workload.
func (w Workload) Weft() corev1.Container { return w.Pod.Spec.Containers[0] }

// Environment is what a workload's container finds, as far as the manifests say.
func (m *Manifests) Environment(w Workload) map[string]string {
	environment := map[string]string{}
	for _, from := range w.Weft().EnvFrom {
		for _, c := range m.ConfigMaps {
			if from.ConfigMapRef != nil && c.Name == from.ConfigMapRef.Name {
				for name, value := range c.Data {
					environment[name] = value
				}
			}
		}
		for _, s := range m.Secrets {
			if from.SecretRef != nil && s.Name == from.SecretRef.Name {
				for name, value := range s.Data {
					environment[name] = string(value)
				}
			}
		}
	}
	for _, e := range w.Weft().Env {
		environment[e.Name] = e.Value
	}
	return environment
}

// restricted is what the Pod Security Standard of that name asks for, and what
// a static binary needs no more than.
func (p *problems) restricted(w Workload) {
	pod, c := w.Pod.Spec.SecurityContext, w.Weft().SecurityContext
	switch {
	case pod == nil || pod.RunAsNonRoot == nil || !*pod.RunAsNonRoot || pod.RunAsUser == nil || *pod.RunAsUser == 0:
		p.addf("%s may run as root", w.Name)
	case pod.SeccompProfile == nil || pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault:
		p.addf("%s has no seccomp profile", w.Name)
	case c == nil || c.AllowPrivilegeEscalation == nil || *c.AllowPrivilegeEscalation:
		p.addf("%s may escalate its privileges", w.Name)
	case c.ReadOnlyRootFilesystem == nil || !*c.ReadOnlyRootFilesystem:
		p.addf("%s may write to its root file system", w.Name)
	case c.Capabilities == nil || len(c.Capabilities.Drop) != 1 || c.Capabilities.Drop[0] != "ALL":
		p.addf("%s keeps capabilities", w.Name)
	case w.Pod.Spec.AutomountServiceAccountToken == nil || *w.Pod.Spec.AutomountServiceAccountToken:
		p.addf("%s has a token of the API", w.Name)
	case w.Pod.Spec.EnableServiceLinks == nil || *w.Pod.Spec.EnableServiceLinks:
		p.addf("%s gets variables that begin with WEFT_ from services", w.Name)
	}
}

// probed workloads have three probes at a port that they name, and a stop that
// fits the ten seconds which weft takes at most.
func (p *problems) probed(w Workload) {
	c := w.Weft()
	ports := map[string]int32{}
	for _, port := range c.Ports {
		ports[port.Name] = port.ContainerPort
	}
	for name, probe := range map[string]*corev1.Probe{
		"startup": c.StartupProbe, "liveness": c.LivenessProbe, "readiness": c.ReadinessProbe,
	} {
		if probe == nil || probe.HTTPGet == nil {
			p.addf("%s has no %s probe", w.Name, name)
			continue
		}
		if ports[probe.HTTPGet.Port.StrVal] == 0 {
			p.addf("the %s probe of %s asks at port %q, which the container does not name", name, w.Name, probe.HTTPGet.Port.String())
		}
		if path := probe.HTTPGet.Path; path != "/healthz" && path != "/readyz" {
			p.addf("the %s probe of %s asks for %s, which weft does not answer", name, w.Name, path)
		}
	}
	if grace := w.Pod.Spec.TerminationGracePeriodSeconds; grace == nil || *grace < 12 {
		p.addf("%s has no time to end", w.Name)
	}
	if c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
		p.addf("%s has no requests or limits", w.Name)
	}
}

// mounted is every volume, and data outlives the pods of a StatefulSet only.
func (p *problems) mounted(w Workload, environment map[string]string) {
	volumes := map[string]bool{}
	for _, v := range w.Pod.Spec.Volumes {
		volumes[v.Name] = true
	}
	for _, claim := range w.Claims {
		volumes[claim.Name] = true
	}
	at := map[string]bool{}
	for _, mount := range w.Weft().VolumeMounts {
		at[mount.MountPath] = true
		if !volumes[mount.Name] {
			p.addf("%s mounts the volume %s, which it does not have", w.Name, mount.Name)
		}
	}
	if data := environment["WEFT_DATA"]; !at[data] {
		p.addf("%s has nothing mounted at %s, its data directory", w.Name, data)
	}
	// An erasure (--keep) makes temporary files, and nothing else can be written to.
	if dir := environment["TMPDIR"]; w.stage() == Archive && !at[dir] {
		p.addf("%s has no place for temporary files", w.Name)
	}
	if w.Stateful != (len(w.Claims) > 0) {
		p.addf("%s: states need claims, and nothing else does", w.Name)
	}
}

// stage is what a workload runs: "run fetch" is "fetch".
func (w Workload) stage() string { return strings.TrimPrefix(strings.Join(w.Weft().Args, " "), "run ") }
