# Millicore: the two commands of a newcomer are `make demo` and `make test`.

GO      ?= go
PKGS     = ./... ./internal/cgroup/... ./maxprocs/... ./maxprocs/examples/... ./maxprocs/otel/... ./maxprocs/prometheus/...
VERSION ?= $(shell git describe --tags --match 'v*' --always --dirty 2>/dev/null || echo development)
LINK    := -s -w -X main.version=$(VERSION) -X github.com/millicore/millicore/internal/load/agent.build=$(VERSION)
GORELEASER = github.com/goreleaser/goreleaser/v2@v2.15.4 # later ones need a newer Go
SYFT       = github.com/anchore/syft/cmd/syft@v1.57.0
COSIGN     = github.com/sigstore/cosign/v3/cmd/cosign@v3.1.3
VULNCHECK  = golang.org/x/vuln/cmd/govulncheck@v1.9.0
GOLANGCI   = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# Without the folder's name in them, packages and test results are the same in every
# checkout, so all share one cache.
export GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath

# FerretDB for machines without mongod: a module of its own, so that what it
# requires stays out of Millicore's.
MONGODB = GOWORK=off CGO_ENABLED=0 $(GO) -C dependencies/mongodb

# The image for Kubernetes: all programs, for these platforms.
IMAGE     ?= millicore/millicore:$(VERSION)
PLATFORMS ?= linux/amd64 linux/arm64
ARCHIVE    = bin/millicore-image.tar
PACK       = GOWORK=off CGO_ENABLED=0 $(GO) -C images run . -name '$(IMAGE)' -entrypoint /millicore -env 'HOME=/tmp PATH=/' -certificates

.PHONY: help check vet lint prose tidy old-go build manuals mongodb image image-load image-push release-check release-tools vulnerabilities test test-system test-all test-kubernetes cluster cluster-down demo cross fuzz bench bench-load clean reproduce

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | awk -F'\t' '{ printf "%-16s %s\n", $$1, $$2 }'

check: ## before each commit: format, weight, prose, linters, tidy modules, go test -short, -race where files changed; no root
	scripts/check.sh

vet:
	$(GO) vet $(PKGS)

lint: ## golangci-lint, with the linters of .golangci.yml
	$(GO) run $(GOLANGCI) run --allow-parallel-runners $(PKGS)

tidy:
	scripts/tidy.sh

# The oldest Go that maxprocs/go.mod allows, as its users build it: without the workspace.
old-go: ## test the modules of maxprocs with Go 1.21, which go downloads
	for module in internal/cgroup maxprocs maxprocs/prometheus maxprocs/otel; do \
		GOWORK=off GOTOOLCHAIN=go1.21.13 $(GO) -C $$module test ./... || exit 1; \
	done

prose: ## the words that docs, messages and comments avoid: test/prose/words.txt
	$(GO) run ./test/prose

build: ## put the programs into bin/
	CGO_ENABLED=0 $(GO) build -ldflags '$(LINK)' -o bin/ ./cmd/...

mongodb: ## put bin/millicore-mongodb, a server of MongoDB's protocol, beside them
	$(MONGODB) build -ldflags "-s -w" -o ../../bin/millicore-mongodb .

image: ## put bin/millicore-image.tar there, an image of IMAGE=name for PLATFORMS; no Docker needed
	rm -rf bin/image
	for platform in $(PLATFORMS); do \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -ldflags '$(LINK)' \
			-o bin/image/$$platform/ ./cmd/... || exit 1; \
		install -D -m 644 LICENSE bin/image/$$platform/licenses/LICENSE || exit 1; \
	done
	$(PACK) -out ../$(ARCHIVE) $(foreach platform,$(PLATFORMS),$(platform)=../bin/image/$(platform))

image-load: PLATFORMS = linux/$(shell $(GO) env GOARCH)
image-load: ARCHIVE = bin/millicore-image-here.tar
image-load: image ## import it, for this machine's architecture, into the test cluster, or into containerd at CONTAINERD_ADDRESS
	$(if $(CONTAINERD_ADDRESS),ctr --address $(CONTAINERD_ADDRESS) -n k8s.io images import,test/cluster/import.sh) $(ARCHIVE)

image-push: image ## push it to the registry of IMAGE=name, as docker login knows it
	$(PACK) -push $(foreach platform,$(PLATFORMS),$(platform)=../bin/image/$(platform))

manuals: build ## put the manual pages and the shells' completions into bin/manuals/
	rm -rf bin/manuals && mkdir -p bin/manuals/completion
	bin/millicore man bin/manuals/man
	bin/millicore completion bash > bin/manuals/completion/millicore.bash
	bin/millicore completion fish > bin/manuals/completion/millicore.fish
	bin/millicore completion zsh > bin/manuals/completion/_millicore

release-check: ## make all that a release has, into dist/, and publish nothing; docs/releasing.md
	$(GO) run $(GORELEASER) release --snapshot --clean --skip=publish,sbom,sign

release-tools: ## install what the workflow `release` runs beside goreleaser: syft and cosign
	$(GO) install $(SYFT)
	$(GO) install $(COSIGN)

vulnerabilities: ## report known vulnerabilities in code that the programs and libraries call; needs the network
	$(GO) run $(VULNCHECK) $(PKGS)

test-kubernetes: ## start a one-node Kubernetes, run on it what needs a real one, end it; as root
	test/cluster/with.sh $(GO) test -count=1 -timeout 60m -v ./test/kubernetes

cluster: ## start a one-node Kubernetes for tests, as root; prints its kubeconfig
	test/cluster/up.sh

cluster-down: ## end it
	test/cluster/down.sh

demo: build ## about a minute: what GOMAXPROCS does to a service under a limit of 1 CPU
	bin/millicore run quick

test: ## every package, and each command once under real limits; as root; installs what it needs; docs/testing.md
	scripts/test.sh

test-system: ## beside make test: emulated machines, Docker, Kubernetes, long searches, all experiments, faults; as root
	scripts/test.sh system

test-all: ## both with samples of full size, each fuzz target for a minute, and 1,000 simulated searches; hours
	MILLICORE_SAMPLES=full scripts/test.sh
	MILLICORE_SAMPLES=full scripts/test.sh system
	$(GO) test -timeout 2h -run TestTheIntervalHoldsTheTruth ./internal/analysis/search -runs 1000
	scripts/fuzz.sh 1m

# What builds on Linux is vetted for the other systems, which includes their types. For
# macOS on Intel and on ARM the same files are compiled.
cross: ## the other systems that the programs support
	for target in linux/arm64 darwin/arm64; do \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) vet $(PKGS) || exit 1; \
	done

reproduce: build mongodb ## the published experiments in full, 79 minutes; writes docs/results.md, and the reports into bin/results
	scripts/reproduce.sh

fuzz: ## each fuzz target for a minute (FUZZTIME=10s for less)
	scripts/fuzz.sh $(or $(FUZZTIME),1m)

bench: ## speed, as ratios within one run
	$(GO) test -run '^$$' -bench . -benchmem $(PKGS)

bench-load: build ## Millicore's generator against its peers, which it installs; 15 minutes on a quiet machine; writes bin/bench-load/
	test/benchload/install.sh
	$(GO) run ./test/benchload -rounds $(or $(ROUNDS),5) -seconds $(or $(SECONDS),4)

clean:
	rm -rf bin
