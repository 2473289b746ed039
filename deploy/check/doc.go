// Package check compares the deploy files with what reads them: docker compose,
// Kubernetes and KEDA, Prometheus and Grafana, systemd, a builder of images, and weft
// itself. No container engine is needed. compose-go loads the compose file, kustomize
// builds the manifests, and the API types decode them strictly. Prometheus' query
// engine runs the alerts on series from a file. weft runs with the flags and the
// environment that the files give it, against a broker, a bucket and a site of the
// test.
//
// The package is a module of its own, so that these libraries stay out of Weft's.
//
//	cd deploy/check && go test ./...
//
// A check is a function from the files to what is wrong with them. A test runs it on
// the files as they are, and wants no fault. Then it plants mistakes, and wants each
// of them found. Nothing but tests uses a check, so all of them are in test files.
package check
