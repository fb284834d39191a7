#!/bin/bash
# Run a command with a cluster; MILLICORE_KUBECONFIG is its kubeconfig. A cluster that
# did not run before is ended afterwards. With --if-possible it is not a failure if the
# machine has no room or no permission for a cluster, or if none was built: the script
# prints the reason.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/config.sh"
possible=
[ "$1" != --if-possible ] || { possible=yes; shift; }

# without REASON: there will be no cluster.
without() {
  [ -n "$possible" ] || die "$*"
  echo "no cluster: $*; tests that need a real Kubernetes are skipped" >&2
  exit 0
}
[ "$(id -u)" = 0 ] || without "it needs root"
needs=$((4 * 1024 * 1024)) # KiB: 1.5 GiB are the cluster's own, the rest is its pods'
[ "$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo)" -ge $needs ] || without "it needs 4 GiB of free memory"
unshare --mount --net --pid --fork true 2>/dev/null || without "this machine allows no new namespaces"
if [ -n "$possible" ] && ! "$here/build.sh" --built; then
  without "its programs are not built on this machine yet, which takes 20 to 30 minutes; make cluster builds them"
fi

before=; ! running || before=yes
began=$(date +%s)
[ -n "$before" ] || [ ! -e /sys/class/net/klab0 ] || without "another one runs on this machine"
kubeconfig=$("$here/up.sh")
end() { [ -n "$before" ] || "$here/down.sh"; }
trap end EXIT
status=0
MILLICORE_KUBECONFIG=$kubeconfig "$@" || status=$?
echo "what needs a real Kubernetes took $(($(date +%s) - began)) s" >&2
exit $status
