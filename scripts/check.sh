#!/usr/bin/env bash
# What a commit needs (make check): no root, nothing installed. It ends at the first step
# that fails, and what failed is printed last.
set -euo pipefail
cd "$(dirname "$0")/.."
gotestsum=gotest.tools/gotestsum@v1.13.0

step() {
  local name=$1 began=$SECONDS
  shift
  echo "== $name" >&2
  "$@" || { echo "make check: $name failed" >&2; exit 1; }
  [ $((SECONDS - began)) -lt 5 ] || echo "   $((SECONDS - began)) s" >&2
}

format() {
  local bad
  bad=$(gofmt -l $(git ls-files '*.go'))
  [ -z "$bad" ] || { gofmt -d $bad; return 1; }
}

# Without the tests of whole systems, which need root and take minutes.
packages() {
  go list ./... ./internal/cgroup/... ./maxprocs/... ./maxprocs/examples/... ./maxprocs/otel/... ./maxprocs/prometheus/... |
    grep -vE '/test/(advice|chaos|docker|kubernetes|modules|program|vm)$' | tr '\n' ' '
}

# changed is the packages with Go files that differ from the last commit.
changed() {
  local dir
  { git diff --name-only --diff-filter=d HEAD -- '*.go'; git ls-files --others --exclude-standard -- '*.go'; } |
    xargs -r -n 1 dirname | sort -u | while read -r dir; do (cd "$dir" && go list . 2>/dev/null) || true; done |
    grep -vE '/test/(advice|chaos|docker|kubernetes|modules|program|vm)$' | tr '\n' ' ' || true
}

# modules_same reports that no file differs from the last commit that can change what the
# modules require. On a new machine go mod tidy downloads the tests of all dependencies.
modules_same() {
  [ -z "$(git status --porcelain -- '*.go' '*go.mod' '*go.sum')" ]
}

tests() {
  local packages=$1
  shift
  go run $gotestsum --format pkgname --format-hide-empty-pkg --hide-summary skipped --packages "$packages" -- -short "$@"
}

step "gofmt" format
step "weight" go run ./test/weight
step "prose" make --no-print-directory prose
step "golangci-lint and go vet (the first build takes minutes)" make --no-print-directory lint
[ -z "${CI:-}" ] && modules_same || step "go mod tidy" make --no-print-directory tidy
step "go test -short" tests "$(packages)"
racing=$(changed)
[ -z "$racing" ] || step "go test -short -race of the changed packages" tests "$racing" -race
