# Millicore: the two commands of a newcomer are `make demo` and `make test`.

GO      ?= go
PKGS     = ./... ./maxprocs/... ./maxprocs/examples/...
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
LONGEST  = ./test/vm ./internal/report/html # are begun first, so that nobody waits for them alone
GORELEASER = github.com/goreleaser/goreleaser/v2@v2.15.4 # later ones ask for a newer Go
GOTESTSUM = gotest.tools/gotestsum@v1.13.0
GOLANGCI  = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# A machine whose hypervisor takes it away for seconds can fail any test that waits for
# something. A test that failed is run once more, alone. test/outcome reports those that
# passed then as flaky: on a quiet machine each of them is a bug.
EVENTS    = bin/events
TESTS     = $(GO) run $(GOTESTSUM) --rerun-fails=1 --rerun-fails-max-failures=20 --rerun-fails-abort-on-data-race

# FerretDB for machines without mongod: a module of its own, so that what it
# requires stays out of Millicore's.
MONGODB = GOWORK=off CGO_ENABLED=0 $(GO) -C dependencies/mongodb

# The image for Kubernetes: all programs, for these platforms.
IMAGE     ?= millicore/millicore:$(VERSION)
PLATFORMS ?= linux/amd64 linux/arm64
ARCHIVE    = bin/millicore-image.tar
PACK       = GOWORK=off CGO_ENABLED=0 $(GO) -C images run . -name '$(IMAGE)' -entrypoint /millicore -env 'HOME=/tmp PATH=/' -certificates

.PHONY: help check lint prose build manuals mongodb image image-load image-push release-check test-kubernetes cluster cluster-down demo test vet cross fuzz bench bench-load clean reproduce

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | awk -F'\t' '{ printf "%-16s %s\n", $$1, $$2 }'

check: vet ## what every commit has to pass: format, vet, tidy modules, go test -short; no root
	scripts/tidy.sh
	$(GO) test -short $(PKGS)

lint: ## golangci-lint; not part of make check yet, as the tree has findings
	$(GO) run $(GOLANGCI) run ./...

prose: ## words that docs, messages and comments avoid; not part of make check yet, as the tree has some
	$(GO) run ./test/prose

build: ## put the programs into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-w -X main.version=$(VERSION)' -o bin/ ./cmd/...

mongodb: ## put bin/millicore-mongodb, a server of MongoDB's protocol, beside them
	$(MONGODB) build -trimpath -ldflags -w -o ../../bin/millicore-mongodb .

image: ## put bin/millicore-image.tar there, an image of IMAGE=name for PLATFORMS; no Docker needed
	rm -rf bin/image
	for platform in $(PLATFORMS); do \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build -trimpath -ldflags '-w -X main.version=$(VERSION)' \
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
	$(GO) run $(GORELEASER) release --snapshot --clean --skip=publish

test-kubernetes: ## start a one-node Kubernetes, run on it what needs a real one, end it; as root, cold 20 to 30 minutes
	test/cluster/with.sh $(GO) test -count=1 -timeout 60m -v ./test/kubernetes

cluster: ## start a one-node Kubernetes for tests, as root; prints its kubeconfig
	test/cluster/up.sh

cluster-down: ## end it
	test/cluster/down.sh

demo: build ## about a minute: what GOMAXPROCS does to a service under a limit of 1 CPU
	bin/millicore run quick

test: build mongodb vet cross ## everything that proves the product, as root; installs what it needs
	scripts/setup-tests.sh
	rm -rf $(EVENTS) && mkdir -p $(EVENTS)
	$(GO) test -count=1 -run TestARealFreeze ./internal/load/engine # without -race: both sides as fast as they are
	$(GO) test -count=1 -run TestTheIntervalHoldsTheTruth ./internal/analysis/search -seed 10000 # without -race: a hundred searches of each service, of seeds that nothing was tuned on
	GOWORK=off $(GO) -C images test -count=1 ./...
	$(TESTS) --jsonfile $(EVENTS)/packages.json --format pkgname --format-hide-empty-pkg \
		--packages "$(LONGEST) $$($(GO) list $(PKGS) | grep -v -e /test/program -e '/test/docker$$' -e '/test/kubernetes$$' | tr '\n' ' ')" -- -race -count=1 -timeout 60m
	$(TESTS) --jsonfile $(EVENTS)/programs.json --format testname \
		--packages './test/program ./test/docker' -- -count=1 -p 1 -timeout 60m # alone: their services, limits and neighbours are real
	test/cluster/with.sh --if-possible \
		$(TESTS) --jsonfile $(EVENTS)/kubernetes.json --format testname \
		--packages ./test/kubernetes -- -count=1 -timeout 60m
	$(GO) run ./test/outcome $(EVENTS)/*.json

vet:
	test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -d $$(git ls-files '*.go'); exit 1; }
	$(GO) vet $(PKGS)

cross: ## everything builds for the systems that it promises
	for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build $(PKGS) && \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) vet $(PKGS) || exit 1; \
	done

reproduce: build mongodb ## the published experiments in full, 79 minutes; writes docs/results.md
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
