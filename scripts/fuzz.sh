#!/usr/bin/env bash
# Run every fuzz target of the repository for the given time each.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-1m}
git ls-files '*_test.go' | xargs grep -l '^func Fuzz' | while read -r file; do
  for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
    echo "== $target in $(dirname "$file")"
    # A new input is made smaller in 20 steps: of a whole record the usual minute would be
    # the whole time.
    go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 20x
  done
done
