#!/bin/bash
# The same experiment on this machine's processes, on Docker and on Kubernetes, as
# root on a machine that is otherwise quiet; about ten minutes. It starts a Docker
# daemon and a cluster of its own, and ends them.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${MILLICORE_KUBECONFIG:-}" ] || exec test/cluster/with.sh "$0" "$@"
make build image-load IMAGE=millicore/millicore:test >/dev/null
namespace=millicore-platforms-$$
k=test/cluster/k.sh
trap '$k delete namespace $namespace --wait=false >/dev/null; $k delete clusterrolebinding millicore-metrics-$namespace >/dev/null 2>&1 || true' EXIT
$k create namespace "$namespace" >/dev/null
$k label namespace "$namespace" pod-security.kubernetes.io/enforce=privileged >/dev/null
sed "s/NAMESPACE/$namespace/" docs/kubernetes.yaml | $k apply -f - >/dev/null
go run ./test/platforms -namespace "$namespace" "$@"
