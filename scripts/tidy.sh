#!/usr/bin/env bash
# Report what `go mod tidy` would change in each module. maxprocs is taken from this
# checkout: the version that the other modules require is tagged with a release only
# (docs/releasing.md).
set -euo pipefail
cd "$(dirname "$0")/.."
export GOWORK=off GOFLAGS=-mod=mod
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/.*millicore\/maxprocs \(v[^ ]*\).*/\1/p' go.mod | head -1)

for module in . maxprocs maxprocs/examples; do
  name=${module//\//-}
  cp "$module/go.mod" "$work/$name.mod"
  if [ -e "$module/go.sum" ]; then cp "$module/go.sum" "$work/$name.sum"; fi
  if grep -q 'millicore/maxprocs v' "$module/go.mod"; then
    go mod edit -replace "github.com/millicore/millicore/maxprocs@$version=$root/maxprocs" "$work/$name.mod"
  fi
  go -C "$module" mod tidy -diff -modfile="$work/$name.mod" || {
    echo "$module/go.mod is not tidy: run GOWORK=off go mod tidy there, or apply the difference above" >&2
    exit 1
  }
done
