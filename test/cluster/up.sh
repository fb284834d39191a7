#!/bin/bash
# Start a one-node Kubernetes in its own mount, network and PID namespaces, and
# print the path of its kubeconfig. It ends completely when the process in
# $CLUSTER_STATE/unshare.pid ends. A running cluster is left unchanged; one that does
# not become ready is ended.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/config.sh"
[ "$(id -u)" = 0 ] || die "a cluster needs root"
[ ${#CONTAINERD_SOCKET} -le 100 ] || die "$CLUSTER_STATE is too long for the path of a socket; set CLUSTER_STATE"
for program in openssl ip curl unshare flock; do command -v $program >/dev/null || die "$program is missing; scripts/setup-tests.sh installs it"; done
mkdir -p "$CLUSTER_STATE"
exec 8> "$CLUSTER_STATE/lock" && flock 8

k() { "$BIN/hyper" kubectl --kubeconfig "$KUBECONFIG_FILE" --request-timeout 10s "$@"; }
failed() {
  tail -n 20 "$CLUSTER_STATE/log/inside.log" >&2
  "$here/down.sh"
  die "$*; the logs are in $CLUSTER_STATE/log"
}
# ready: the kubelet of this start reports ready; the report of the last start is still stored.
ready() {
  local status at
  read -r status at < <(k get node $NODE -o 'jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status} {.lastHeartbeatTime}{"\n"}{end}' 2>/dev/null) &&
    [ "$status" = True ] && [ "$(date -d "$at" +%s)" -ge "$started" ]
}
await() {
  local end=$(($(date +%s) + 120))
  until ready; do
    running || failed "the cluster ended"
    [ "$(date +%s)" -lt $end ] || failed "the node did not become ready within two minutes"
    sleep 0.2
  done
}
if running; then
  started=0
  await
  echo "$KUBECONFIG_FILE"
  exit
fi
[ ! -e "$CLUSTER_STATE/unshare.pid" ] || "$here/down.sh" # it ended by itself
[ ! -e /sys/class/net/klab0 ] || die "another cluster runs here, or its network interface klab0 was left: end it with its own down.sh, or ip link del klab0"
"$here/build.sh"
. "$here/pki.sh"
mkdir -p "$CLUSTER_STATE"/{log,etcd,containerd,kubelet,cni,varlog,plugins}
# The kubelet sets these six for the whole machine; down.sh restores them.
for k in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  echo "$k $(cat /proc/sys/$k)"
done > "$CLUSTER_STATE/sysctl.before"

started=$(date +%s)
export here
setsid unshare --mount --net --pid --fork --kill-child --mount-proc --propagation private \
  bash "$here/inside.sh" > "$CLUSTER_STATE/log/inside.log" 2>&1 < /dev/null 8>&- &
up=$!
echo "$up" > "$CLUSTER_STATE/unshare.pid"
for _ in $(seq 100); do
  child=$(tr -d ' ' < "/proc/$up/task/$up/children" 2>/dev/null) || true
  [ -n "${child:-}" ] && [ "$(readlink "/proc/$child/ns/net")" != "$(readlink /proc/self/ns/net)" ] && break
  sleep 0.05
done
echo "$child" > "$CLUSTER_STATE/init.pid"
ip link add klab0 type veth peer name klab1 netns "$child"
ip addr add "$HOST_IP/30" dev klab0
ip link set klab0 up
ip route add "$POD_CIDR" via "$NODE_IP" dev klab0 onlink
ip route add "$SVC_CIDR" via "$NODE_IP" dev klab0 onlink

await
if [ "$METRICS_SERVER" = yes ]; then k apply -f "$here/manifests/metrics-server.yaml" >/dev/null || failed "metrics-server could not be made"; fi
echo "the node was ready after $(($(date +%s) - started)) s" >&2
echo "$KUBECONFIG_FILE"
