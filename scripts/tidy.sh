#!/usr/bin/env bash
# Report what `go mod tidy` would change in each module. The modules of this repository
# are taken from this checkout: the versions that are required are tagged with a release
# only (docs/releasing.md).
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off GOFLAGS=-mod=mod
root=$PWD
own=github.com/millicore/millicore
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for module in . internal/cgroup maxprocs maxprocs/examples maxprocs/otel maxprocs/prometheus; do
  name=${module//\//-}
  cp "$module/go.mod" "$work/$name.mod"
  if [ -e "$module/go.sum" ]; then cp "$module/go.sum" "$work/$name.sum"; fi
  for required in internal/cgroup maxprocs maxprocs/prometheus; do
    if grep -q "$own/$required v" "$module/go.mod"; then
      go mod edit -replace "$own/$required=$root/$required" "$work/$name.mod"
    fi
  done
  go -C "$module" mod tidy -diff -modfile="$work/$name.mod" || {
    echo "$module/go.mod is not tidy: run GOWORK=off go mod tidy there, or apply the difference above" >&2
    exit 1
  }
done
