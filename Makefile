# Everything that Weft needs is Go 1.26, make and git: the tools below come from
# the module proxy and are built into .tools, but for buf, of which pip has the
# program. Tests against Apache Kafka take Java 17 and Maven besides. `make` lists
# what there is to make.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

# Everything except the race tests is compiled as it is shipped: without cgo, and without the
# name of this folder. So the program, its tests, the linters and the tools compile what
# they share once.
export CGO_ENABLED := 0
export GOFLAGS     := -trimpath $(filter-out -trimpath,$(GOFLAGS))

# Tools and their versions. A version is part of the file's name, so changing
# it here builds the new one.
GOLANGCI_LINT_VERSION  := v2.15.0
BUF_VERSION            := v1.66.0
GOTESTSUM_VERSION      := v1.13.0
PROTOC_GEN_GO_VERSION  := v1.36.12
# The S3 server that tests run against.
VERSITYGW_VERSION      := v1.8.0

# Apache Kafka: the current version, and the last line before it. Tests run
# against both; `make kafka` runs the first.
KAFKA_VERSIONS := 4.1.0 3.9.1

TOOLS         := $(CURDIR)/.tools
# It has only the linters of .golangci.yml.
GOLANGCI_LINT := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)-$(shell cksum <.golangci.yml | cut -d' ' -f1)/golangci-lint
BUF           := $(TOOLS)/buf-$(BUF_VERSION)/buf
PROTOC_GEN_GO := $(TOOLS)/protoc-gen-go-$(PROTOC_GEN_GO_VERSION)/protoc-gen-go
VERSITYGW     := $(TOOLS)/versitygw-$(VERSITYGW_VERSION)/versitygw

# Test programs are linked without tables for debuggers. That saves a third of the time of linking.
# Go's own traces do not use these tables.
LINK := -ldflags=-w

# The race detector links C; without a compiler the same tests run without it. The tags
# choose Go where cgo would choose C, as in the program. Without atexit_sleep_ms each
# test program, and each that a test starts, sleeps a second before it ends. No package
# may be left out: the linker may choose its copy of a generic function for all packages.
# With huge pages for its shadow memory the system's part of the time is up to 40 % less.
# For each object of 64 KiB and more the detector would map new shadow memory, whose pages
# all fault again. Up to 16 MiB it now clears the old memory instead, which takes a third less CPU
# time in the tests of crawl.
# Collecting garbage is dear under the detector, too: seldom, it saves a tenth. Tests that look at
# memory collect it themselves.
# PDFium is compiled once for each version of wazero: under the detector that takes 20 s.
# TestRaceDetector fails if WEFT_RACE is set and the detector is off.
RACE     := $(shell command -v "$$(go env CC)" >/dev/null 2>&1 && echo -race -tags pebblegozstd,netgo,osusergo -gcflags=all=-dwarf=false $(LINK))
RACE_ENV := WEFT_PDFIUM=$(TOOLS)/pdfium-$(shell awk '$$1 ~ /tetratelabs\/wazero$$/ { print $$2 }' go.mod) $(if $(RACE),CGO_ENABLED=1 GORACE="atexit_sleep_ms=0 no_huge_pages_for_shadow=0 clear_shadow_mmap_threshold=16777216" GOGC=400 WEFT_RACE=on)

# Compilers and linters keep little and live short. Collected seldom, they take a tenth less
# CPU time. Programs that they build are not meant: tests look at their memory.
build bench-build race-build lint fmt tools $(GOLANGCI_LINT) $(BUF) $(GOTESTSUM) $(PROTOC_GEN_GO) $(VERSITYGW): export GOGC := 400

# Tests make and remove many files, which in memory takes half the system time. So their folder
# is in memory if there is room for it. Runs that were killed leave their files; after an hour
# they go.
MEMORY := $(shell df -k --output=avail /dev/shm 2>/dev/null | awk 'NR == 2 && $$1 > 8000000 { print "/dev/shm/weft-$(shell id -u)" }')
ifneq ($(MEMORY),)
check test tests unit long short serial deploy-check deploy-long: export TMPDIR := $(shell mkdir -p $(MEMORY) && find $(MEMORY) -mindepth 1 -maxdepth 1 -mmin +60 -exec rm -rf {} + && echo $(MEMORY))
endif

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The version that the User-Agent names. Without git it is what the Go toolchain
# knows.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)

.PHONY: build
build: ## Build bin/weft
	go build -ldflags '-X main.described=$(VERSION)' -o bin/weft ./cmd/weft

# Tells which package it is at, and in the end what failed and what took longest.
# Runs side by side must not write the same file of times.
GOTESTSUM := $(TOOLS)/gotestsum-$(GOTESTSUM_VERSION)/gotestsum
TIMES      = $(TOOLS)/times-$@.json
GOTEST     = $(GOTESTSUM) --format pkgname --format-hide-empty-pkg --hide-summary skipped --jsonfile-timing-events $(TIMES) \
	--post-run-command '$(GOTESTSUM) tool slowest --num 10 --jsonfile $(TIMES)' --

# go vet is not run: lint has its analyzers, for tests too.
.PHONY: check
check: build $(GOTESTSUM) ## What to run while you work: build, lint, the short tests
	$(MAKE) --no-print-directory lint
	$(GOTEST) $(LINK) -vet=off -short -p 4 -parallel 16 ./...

# The long tests wait more than they compute. While they run, make runs at the lowest priority
# what only computes: the S3 server and the race tests are compiled, linters and the
# checks of the deploy files run, and the tests of packages without goroutines (.ci/serial).
.PHONY: test
test: ready ## All that CI runs: build, lint, long tests, deploy files, short tests under the race detector
	@nice -n 19 $(MAKE) --no-print-directory -k beside >$(TOOLS)/beside.log 2>&1 & beside=$$!; \
	trap 'kill $$beside 2>/dev/null || true' EXIT; \
	$(MAKE) --no-print-directory long; \
	$(MAKE) --no-print-directory short; \
	$(MAKE) --no-print-directory deploy-long; \
	wait $$beside || { cat $(TOOLS)/beside.log; exit 1; }; \
	cat $(TOOLS)/beside.log

# What long tests need. It is fetched while the program is built.
.PHONY: ready
ready: $(GOTESTSUM)
	@$(MAKE) --no-print-directory -j3 build kafka-fetch examples-fetch

.PHONY: beside
beside: $(VERSITYGW) race-build lint deploy-check serial

.PHONY: serial
serial: $(GOTESTSUM) ## The tests of packages without goroutines
	$(GOTEST) $(LINK) -vet=off -timeout 20m -p 2 $$(.ci/serial)

.PHONY: race-build
race-build:
	$(RACE_ENV) go list -export -test -deps $(RACE) $$(.ci/serial -v) >/dev/null

# The tests of deploy read files outside of their module, of which the cache of
# tests knows nothing.
.PHONY: deploy-check
deploy-check: $(GOTESTSUM) ## Hold the deploy files against what reads them
	cd deploy/check && $(GOTEST) $(LINK) -count=1 -short -timeout 20m ./...

.PHONY: tests
tests: long serial short deploy-long ## The tests alone, one after another

.PHONY: long
long: $(GOTESTSUM)
	$(GOTEST) $(LINK) -vet=off -timeout 20m -p 3 -parallel 4 $$(.ci/long)

.PHONY: deploy-long
deploy-long: $(GOTESTSUM) $(VERSITYGW) ## Crawl with the deploy files
	cd deploy/check && $(GOTEST) $(LINK) -count=1 -timeout 15m $$(../../.ci/long)

# The tests of crawl wait much, and take longest: so three of them run at once.
.PHONY: short
short: $(GOTESTSUM) $(VERSITYGW)
	$(RACE_ENV) $(GOTEST) $(RACE) -vet=off -short -timeout 20m -p 4 -parallel 3 $$(.ci/serial -v)

.PHONY: unit
unit: $(GOTESTSUM) ## The short tests only
	$(GOTEST) $(LINK) -short -parallel 4 ./...

.PHONY: vet
vet: ## go vet
	go vet ./...

.PHONY: lint
lint: $(GOLANGCI_LINT) $(BUF) ## Lint the code (.golangci.yml) and the schema (buf.yaml)
	$(GOLANGCI_LINT) run ./...
	$(BUF) lint

.PHONY: fmt
fmt: $(GOLANGCI_LINT) $(BUF) ## Format the code and the schema
	$(GOLANGCI_LINT) fmt ./...
	$(BUF) format -w

.PHONY: proto
proto: $(BUF) $(PROTOC_GEN_GO) ## Generate codecs/weftpb from codecs/proto
	PATH="$(dir $(PROTOC_GEN_GO)):$$PATH" $(BUF) generate

.PHONY: golden
golden: ## Rewrite the golden files; look at the difference before you commit it
	go test ./inspect/progress ./inspect/metrics -update

.PHONY: bench
bench: bench-build ## Speed: weft and a bare fetcher in pairs, on few and on 2,000 young domains, with and without gzip
	bin/run speed -bars

.PHONY: bench-peers
bench-peers: bench-build peers-fetch ## Other crawlers on the same web, into docs/performance.md (Python, node and Rust)
	bin/run peers -docs docs

.PHONY: peers-fetch
peers-fetch: ## Install the crawlers of bench/peers in .tools/peers
	bench/peers/fetch $(TOOLS)

.PHONY: bench-polite
bench-polite: bench-build ## Politeness: 1,000 domains, 1 s apart, three times kill -9, judged by the server's log
	bin/run polite -bars -kills 3 -duration 2m

.PHONY: bench-addresses
bench-addresses: bench-build kafka-fetch ## Addresses: 10,000 names of one address in four processes on Apache Kafka (root or user namespaces)
	bin/run addresses -bars

.PHONY: bench-sick
bench-sick: bench-build ## Sick hosts: 60 healthy hosts beside 40 sick ones and 600 dead names, and without them (root or user namespaces)
	bin/run sick -bars

.PHONY: bench-cluster
bench-cluster: bench-build kafka-fetch ## Speed: the same crawl embedded, on one Apache Kafka broker, and there by three processes
	bin/run cluster -bars

.PHONY: bench-growth
bench-growth: bench-build ## What a page costs when a crawl knows ten thousand URLs, and when it knows ten million
	bin/run growth -bars

BROKERS ?= 127.0.0.1:9092

.PHONY: bench-scale
bench-scale: bench-build ## What it costs when processes come and go, on the cluster at BROKERS=127.0.0.1:9092 (make kafka)
	bin/run scale -bars -brokers $(BROKERS)

PAGES ?= 30000

.PHONY: cluster
cluster: kafka-fetch ## A crawl of PAGES=30000 on three brokers, of which everything comes, goes and is killed
	go test ./crawl -run 'TestTeam$$' -v -timeout 2h -pages $(PAGES)

DOCS ?= docs.debian

.PHONY: bench-neardup
bench-neardup: ## Near duplicates among 30,000 real pages, HTML files below DOCS=docs.debian (bench/neardup says how to get them)
	go run ./bench/neardup -bars $(DOCS)

MODEL ?= bin/model.json

.PHONY: bench-cost
bench-cost: bench-build kafka-fetch ## What a page costs each stage, topic and store, to MODEL=bin/model.json
	bin/run cost -json $(MODEL)

KAFKA_DATA ?= $(TOOLS)/kafka-data

.PHONY: kafka
kafka: kafka-fetch ## One Apache Kafka broker on 127.0.0.1:9092, data in KAFKA_DATA=.tools/kafka-data
	deploy/kafka/serve $(TOOLS)/kafka-$(firstword $(KAFKA_VERSIONS)) $(KAFKA_DATA)

.PHONY: kafka-fetch
kafka-fetch: ## Fetch the Apache Kafka that tests run against into .tools (Java 17, Maven)
	deploy/kafka/fetch $(TOOLS) $(KAFKA_VERSIONS)

.PHONY: examples-fetch
examples-fetch: ## Fetch what the examples in Python and Java and the tests of WARC and Parquet files need into .tools (Python, a JDK, Maven)
	examples/fetch $(TOOLS)

.PHONY: connect
connect: kafka-fetch $(VERSITYGW) ## Kafka Connect brings the pages of a crawl into an Iceberg table in a bucket (Python, a JDK, Maven; 500 MB)
	examples/fetch $(TOOLS) connect
	go test ./examples -run 'TestConnect$$' -v -connect

SEEDS ?= 2000

.PHONY: sim
sim: ## The loop under virtual time, with faults, for SEEDS=2000 seeds
	go test ./test/sim -run TestSeeds -v -timeout 24h -seeds $(SEEDS)

FUZZ ?= ./...
FUZZTIME ?= 1m

.PHONY: fuzz
fuzz: ## Every fuzz target in turn, FUZZTIME=1m each, of the packages FUZZ=./...; what is found is in testdata/fuzz
	@failed=; for package in $$(go list $(FUZZ)); do \
		listed=$$(go test -list '^Fuzz' $$package); \
		for target in $$(grep '^Fuzz' <<<"$$listed" || true); do \
			echo "== $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x -parallel 1 $$package || failed+=" $$package.$$target"; \
		done; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

.PHONY: bench-micro
bench-micro: ## The hot paths by themselves
	go test -run '^$$' -bench . -benchtime 1s ./codecs ./ledger ./processors/... ./internal/...

.PHONY: bench-build
bench-build: build
	go build -o bin/ ./bench/limit ./bench/web ./bench/run

.PHONY: tools
tools: $(GOLANGCI_LINT) $(BUF) $(GOTESTSUM) $(PROTOC_GEN_GO) $(VERSITYGW) ## Build the tools into .tools

$(GOLANGCI_LINT):
	.ci/golangci-lint $(GOLANGCI_LINT_VERSION) $(@D)

$(GOTESTSUM):
	GOBIN=$(@D) go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)

$(BUF):
	.ci/buf $(BUF_VERSION) $(@D)

$(PROTOC_GEN_GO):
	GOBIN=$(@D) go install google.golang.org/protobuf/cmd/protoc-gen-go@$(PROTOC_GEN_GO_VERSION)

$(VERSITYGW):
	GOBIN=$(@D) go install github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW_VERSION)

.PHONY: release
release: ## Build the archives of a release into dist/, with checksums
	deploy/release dist

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin dist .tools
