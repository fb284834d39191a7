#!/bin/bash
# Run a command with a cluster; MILLICORE_KUBECONFIG is its kubeconfig. A cluster that
# did not run before is ended afterwards. With --reason nothing runs: it prints why this
# machine cannot run a cluster, or nothing if it can.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/config.sh"

# reason prints what a cluster needs and this machine lacks.
reason() {
  local needs=$((4 * 1024 * 1024)) # KiB: 1.5 GiB are the cluster's own, the rest is its pods'
  if [ "$(id -u)" != 0 ]; then
    echo "a cluster needs root"
  elif [ "$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo)" -lt $needs ]; then
    echo "a cluster needs 4 GiB of free memory"
  elif ! unshare --mount --net --pid --fork true 2>/dev/null; then
    echo "this machine does not permit new namespaces"
  elif ! running && [ -e /sys/class/net/klab0 ]; then
    echo "another cluster runs on this machine"
  fi
}
if [ "$1" = --reason ]; then
  reason
  exit
fi
lacks=$(reason)
[ -z "$lacks" ] || die "$lacks"

before=; ! running || before=yes
began=$(date +%s)
kubeconfig=$("$here/up.sh")
end() { [ -n "$before" ] || "$here/down.sh"; }
trap end EXIT
status=0
MILLICORE_KUBECONFIG=$kubeconfig "$@" || status=$?
echo "what needs a real Kubernetes took $(($(date +%s) - began)) s" >&2
exit $status
