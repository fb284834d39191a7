#!/bin/bash
# Check what Millicore needs of the cluster, with the sample service in Go and no other
# program of Millicore: smoke.sh IMAGE. It ends with the first failure.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/config.sh"
image=${1:?give the name of the image that make image-load imported}
ns=smoke-$$
k() { "$here/k.sh" "$@"; }
# within N WHAT COMMAND...: the command succeeds within N seconds.
within() {
  local n=$1 what=$2; shift 2
  for _ in $(seq "$n"); do
    if "$@" >/dev/null 2>&1; then echo "ok: $what"; return; fi
    sleep 1
  done
  die "not within $n s: $what"
}
# says TEXT COMMAND...: the output of the command has the text, whether it fails or not.
says() { local text=$1; shift; { "$@" 2>&1 || true; } | grep -q "$text"; }
load=
trap '[ -z "$load" ] || kill $load 2>/dev/null || true; k delete ns $ns --wait=false >/dev/null; k delete clusterrole,clusterrolebinding $ns --ignore-not-found >/dev/null' EXIT

k create ns $ns >/dev/null
k label ns $ns pod-security.kubernetes.io/enforce=restricted >/dev/null
within 5 "Pod Security refuses an ordinary pod" says 'violates PodSecurity "restricted' k -n $ns run refused --image=x --restart=Never
sed "s|IMAGE|$image|" "$here/manifests/smoke.yaml" | k -n $ns apply -f - >/dev/null
within 1 "a restricted pod with RuntimeDefault runs" k -n $ns rollout status deploy/go --timeout=60s
pod=$(k -n $ns get pod -l app=go -o 'jsonpath={.items[0].metadata.name}')
ip=$(k -n $ns get endpointslice -l kubernetes.io/service-name=go -o 'jsonpath={.items[0].endpoints[0].addresses[0]}')
within 5 "this machine reaches the pod of the EndpointSlice" curl -sfm 5 "http://$ip:8080/healthz"

# The permissions of the pod's service account, by its token.
token=$(k -n $ns create token default)
as_pod() { curl -sm 5 --cacert "$CLUSTER_STATE/pki/ca.crt" -H "Authorization: Bearer $token" "$@"; }
cadvisor() { as_pod "https://$NODE_IP:10250/metrics/cadvisor" | grep "^$1{container=\"go\".*pod=\"$pod\""; }
within 5 "the service kubernetes is the API server" says gitVersion as_pod "https://$API_IP/version"
within 5 "the kubelet refuses a token without nodes/metrics" says '^Forbidden' as_pod "https://$NODE_IP:10250/metrics/cadvisor"
k create clusterrole $ns --verb=get --resource=nodes/metrics >/dev/null
k create clusterrolebinding $ns --clusterrole=$ns --group=system:serviceaccounts:$ns >/dev/null
within 10 "the kubelet serves one with nodes/metrics" cadvisor container_cpu_cfs_throttled_periods_total

k -n $ns patch pod "$pod" --subresource resize -p '{"spec":{"containers":[{"name":"go","resources":{"limits":{"cpu":"400m"}}}]}}' >/dev/null
resized() { [ "$(k -n $ns get pod "$pod" -o 'jsonpath={.status.containerStatuses[0].resources.limits.cpu} {.status.containerStatuses[0].restartCount}')" = "400m 0" ]; }
within 10 "a limit changes in place, without a restart" resized

[ "$METRICS_SERVER" = yes ] || exit 0
within 60 "kubectl top pods" k -n $ns top pod "$pod"
k -n $ns autoscale deploy/go --min=1 --max=3 --cpu=50% >/dev/null
while :; do curl -sm 30 "http://$ip:8080/loop?n=100000000" >/dev/null; done & load=$!
replicas() { [ "$(k -n $ns get deploy go -o 'jsonpath={.status.readyReplicas}')" = "$1" ]; }
within 90 "autoscaling goes up under load" replicas 3
kill $load
within 120 "and back without" replicas 1
