#!/bin/bash
# End the cluster: killing one process, by its id, ends its namespaces and all of their
# processes; then everything outside of them is removed. --purge also removes its data,
# keys and logs, but not the build.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/config.sh"
if running; then
  up=$(cat "$CLUSTER_STATE/unshare.pid")
  kill -9 "$(cat "$CLUSTER_STATE/init.pid")" 2>/dev/null
  for _ in $(seq 100); do kill -0 "$up" 2>/dev/null || break; sleep 0.1; done
  kill -9 "$up" 2>/dev/null
fi
if [ -e "$CLUSTER_STATE/unshare.pid" ]; then
  ip link del klab0 2>/dev/null
  while read -r k v; do echo "$v" > "/proc/sys/$k"; done < "$CLUSTER_STATE/sysctl.before"
  for c in /sys/fs/cgroup/{kubepods,k8s.io} /sys/fs/cgroup/*/{kubepods,k8s.io}; do
    [ -d "$c" ] && find "$c" -depth -type d -exec rmdir {} + 2>/dev/null
  done
  rm -f "$CLUSTER_STATE"/{unshare.pid,init.pid,containerd.sock,containerd.sock.ttrpc}
fi
if [ "${1:-}" = --purge ]; then rm -rf "$CLUSTER_STATE"; fi
true
