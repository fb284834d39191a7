# Millicore: the two commands of a newcomer are `make demo` and `make test`.

GO      ?= go
PKGS     = ./... ./maxprocs/...
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
GOTESTSUM = gotest.tools/gotestsum@v1.13.0

.PHONY: build demo test vet cross fuzz bench clean

build: ## put the programs into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-w -X main.version=$(VERSION)' -o bin/ ./cmd/...

demo: build ## about a minute: what GOMAXPROCS does to a service under a limit of 1 CPU
	bin/millicore run quick

test: build vet cross ## install what the tests need, run them all, say how many ran
	scripts/setup-tests.sh
	$(GO) test -count=1 -run TestARealFreeze ./internal/load/engine # without -race: both sides as fast as they are
	$(GO) run $(GOTESTSUM) --format pkgname --format-hide-empty-pkg -- -race -count=1 -timeout 20m $(PKGS)

vet:
	test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -d $$(git ls-files '*.go'); exit 1; }
	$(GO) vet $(PKGS)

cross: ## everything builds for the systems that it promises
	for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build $(PKGS) && \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) vet $(PKGS) || exit 1; \
	done

fuzz: ## each fuzz target for a minute (FUZZTIME=10s for less)
	scripts/fuzz.sh $(or $(FUZZTIME),1m)

bench: ## speed, as ratios within one run
	$(GO) test -run '^$$' -bench . -benchmem $(PKGS)

clean:
	rm -rf bin
