// Package check holds the deploy files against what would read them: docker
// compose, Kubernetes and KEDA, Prometheus and Grafana, systemd, a builder of
// images, and weft itself. No engine is needed: compose-go loads, kustomize
// builds, the API types decode strictly, promtool checks the alerts and tests them
// on series that a file gives, and weft runs with the flags and the environment that the
// files give it, against a broker, a bucket and a site of the test's own.
//
// It is a module of its own, so that these libraries stay out of Weft's.
//
//	cd deploy/check && go test ./...
//
// A check is a function from the files to what is wrong with them. A test runs
// it on the files as they are, which must be right, and with mistakes planted, each
// of which must be found.
package check
