#!/usr/bin/env bash
# What proves the product, as root on Debian, where it installs what is missing.
# docs/testing.md has the phases and their times.
#
#   scripts/test.sh          make test: every package, and each command once
#   scripts/test.sh system   make test-system: what takes minutes each, beside it
#
# A phase of tests that fails does not end the run: the others follow, and
# test/outcome judges all of their events at the end.
set -euo pipefail
cd "$(dirname "$0")/.."

system=
[ "${1:-}" != system ] || system=yes

. scripts/python-servers.sh
PATH=$PATH:$PYTHON_SERVERS/bin
events=bin/events${system:+-system}
gotestsum=gotest.tools/gotestsum@v1.13.0

# Packages that start no goroutines and depend on nothing but their sources: without the
# race detector, and with a result that Go's cache keeps until a source changes.
pure='internal/(analysis|base/(digits|exit|phrase)|data/(display|experiment|signals)|front/compare|lab/results|load/schedule|load/wire|show/narrative)|test/(corpus|outcome|prose)'
# Packages without goroutines whose tests need the kernel, runtimes or a browser: without
# the race detector, which makes them several times slower and finds nothing in them.
plain='internal/host/(doctor|proc|runtimes|top)|internal/show/report|workloads/(bun|node)'
# Tests of whole systems: their services, limits and neighbours are real, so they run alone.
whole='test/(advice|program|docker|chaos|kubernetes|modules|vm)'
# The tests of test/program that take minutes are in files of their own.
long="^($(sed -n 's/^func \(Test[A-Za-z0-9_]*\)(t .*/\1/p' test/program/long_*_test.go | paste -sd '|'))\$"

rm -rf $events && mkdir -p $events
times=()
slow=()
failed=()

# phase NAME COMMAND...: run a command and note its time, and whether that is more than
# 30 seconds and twice of what docs/testing.md states.
phase() {
  local name=$1 began=$SECONDS took stated
  shift
  echo "== $name" >&2
  "$@" || failed+=("$name")
  took=$((SECONDS - began))
  times+=("$(printf '%5d s  %s' $took "$name")")
  stated=$(sed -n "s/^| $name | \([0-9]*\) |.*/\1/p" docs/testing.md)
  [ $took -le 30 ] || [ $took -le $((2 * ${stated:-took})) ] || slow+=("$name: $took s, more than twice the $stated s of docs/testing.md")
}

# packages PATTERN [BUT]: the packages whose path matches PATTERN, and not BUT.
packages() {
  go list ./... ./internal/cgroup/... ./maxprocs/... ./maxprocs/examples/... ./maxprocs/otel/... ./maxprocs/prometheus/... | grep -E "$1" | grep -vE "${2:-^\$}" | tr '\n' ' '
}

# tests NAME PACKAGES FLAG...: a test that fails runs once more, alone. The events are
# kept. $with is a command that runs the tests.
tests() {
  local name=$1 packages=$2
  shift 2
  ${with:-} go run $gotestsum --rerun-fails=1 --rerun-fails-run-root-test --rerun-fails-max-failures=20 --rerun-fails-abort-on-data-race \
    --jsonfile "$events/$name.json" --format pkgname --format-hide-empty-pkg --packages "$packages" -- -timeout 60m "$@"
}

# build_cluster builds the programs of Kubernetes in the background, where this machine
# can run them. They get the CPU time that nothing else wants. What measures waits for
# their end: a compiler is a neighbour, also at idle priority.
build_cluster() {
  [ -z "$no_cluster" ] || return 0
  setsid chrt --idle 0 nice -n 19 test/cluster/build.sh > bin/cluster-build.log 2>&1 &
  builder=$!
  trap 'kill -- -$builder 2>/dev/null || true' EXIT
}

cluster_built() {
  wait "$builder" || { tail -n 20 bin/cluster-build.log >&2; return 1; }
  trap - EXIT
}

# Samples are small here, and of the usual size in make test-system. Concurrent packages
# mostly wait, so one more runs at once than there are CPUs. With the race detector each
# test program sleeps at its end, by default for a second.
run_tests() {
  export MILLICORE_SAMPLES=${MILLICORE_SAMPLES:-few}
  build_programs vet
  phase "pure packages" tests pure "$(packages "/($pure)(/|\$)")"
  phase "kernel, runtimes, browser" tests plain "$(packages "/($plain)(/|\$)" "/($pure)(/|\$)")" -count=1
  with="env GORACE=atexit_sleep_ms=100" phase "concurrent packages" tests concurrent "$(packages . "/($pure|$plain)(/|\$)|/($whole)\$")" -race -count=1 -p $(($(nproc) + 1))
  phase "images" env GOWORK=off go -C images test ./...
  phase "a real freeze" tests freeze ./internal/load/engine -count=1 -run TestARealFreeze # without the race detector: both sides at full speed
  phase "whole programs" tests programs ./test/program -count=1 -skip "$long"
}

run_system_tests() {
  no_cluster=$(test/cluster/with.sh --reason)
  build_cluster
  build_programs
  phase "vet for other systems" make --no-print-directory cross
  phase "simulations" tests simulations "$(sampling)"
  phase "other samples" tests samples "$(sampling -v)" -count=1 -run "$(drawn)"
  phase "modules" tests modules ./test/modules -count=1
  phase "emulated machines" tests machines ./test/vm -count=1
  [ -n "$no_cluster" ] || phase "wait for the programs of Kubernetes" cluster_built
  phase "long runs of whole programs" tests long ./test/program -count=1 -run "$long"
  phase "Docker, advice, faults" measured
  [ -n "$no_cluster" ] || with=test/cluster/with.sh phase "Kubernetes" tests kubernetes ./test/kubernetes -count=1
}

# measured is the tests of whole systems that measure. Those of advice take hours in make
# test-all, where its campaign of 30 cases alone takes about two.
measured() {
  local ok=0
  tests whole "./test/docker ./test/chaos" -count=1 -p 1 || ok=1
  tests advice ./test/advice -count=1 -timeout 12h || ok=1
  return $ok
}

# build_programs CHECK...: the programs, and further targets of the Makefile.
build_programs() {
  phase "build${1:+ and vet}" make --no-print-directory build mongodb "$@"
  [ ${#failed[@]} -eq 0 ] || exit 1
}

# drawing is the files whose tests draw samples.
drawing() {
  grep -rlE --include='*_test.go' 'testkit\.Samples|racing\.Links' internal test/corpus
}

# sampling is the pure packages whose tests draw samples; with -v the others.
sampling() {
  packages "/($(drawing | xargs -n 1 dirname | sort -u | paste -sd '|'))\$" | tr ' ' '\n' | grep "$@" -E "/($pure)(/|\$)" | tr '\n' ' '
}

# drawn is the tests of the files outside of the pure packages.
drawn() {
  echo "^($(drawing | grep -vE "^($pure)/" | xargs sed -n 's/^func \(Test[A-Za-z0-9_]*\)(t .*/\1/p' | paste -sd '|'))\$"
}

phase "install what is missing" scripts/setup-tests.sh
[ ${#failed[@]} -eq 0 ] || exit 1
no_cluster=
if [ -n "$system" ]; then run_system_tests; else run_tests; fi

printf '%s\n' "${times[@]}" "$(printf '%5d s  in total' $SECONDS)"
go run ./test/outcome -allowed test/outcome/skips.txt -flaky 1 $events/*.json || failed+=("the judgement of skipped and flaky tests")
[ ${#slow[@]} -eq 0 ] || printf 'slow: %s\n' "${slow[@]}"
[ ${#failed[@]} -eq 0 ] || printf 'failed: %s\n' "${failed[@]}"
[ -z "$no_cluster" ] || echo "Kubernetes was not tested: $no_cluster"
[ ${#failed[@]} -eq 0 ]
