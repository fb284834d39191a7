# Settings that all scripts share; each can be set in the environment.
: "${CLUSTER_CACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/millicore/cluster}" # programs and images that were built
: "${CLUSTER_STATE:=$CLUSTER_CACHE/state}"  # one cluster's data, keys, logs and process ids; at most 80 bytes
: "${HOUSEKEEPING:=1s}"                     # how often the kubelet's cAdvisor looks; Kubernetes' default is 10s
: "${KUBELET_CERTIFICATE:=cluster}"         # who signs it: cluster, the cluster's CA; self, the kubelet itself
: "${PROXY_MODE:=auto}"                     # kube-proxy: iptables, nftables, none, or auto: iptables where it works
: "${METRICS_SERVER:=yes}"                  # for kubectl top and for autoscaling; no leaves it out
: "${HOST_IP:=10.243.0.1}"                  # this machine's end of the cable
: "${NODE_IP:=10.243.0.2}"                  # the cluster's end: API server and kubelet
: "${POD_CIDR:=10.244.0.0/24}"
: "${SVC_CIDR:=10.96.0.0/24}"
: "${API_IP:=10.96.0.1}"                    # the first of SVC_CIDR: the service "kubernetes"
NODE=lab

CONTAINERD=v2.4.2 RUNC=v1.5.2 CNI=v1.9.1 # the other versions are in hyper/go.mod
BIN=$CLUSTER_CACHE/bin
KUBECONFIG_FILE=$CLUSTER_STATE/kubeconfig
CONTAINERD_SOCKET=$CLUSTER_STATE/containerd.sock

die() { echo "${0##*/}: $*" >&2; exit 1; }

# running: the cluster's first process exists, and its pid was not reused.
running() {
  local pid
  pid=$(cat "$CLUSTER_STATE/unshare.pid" 2>/dev/null) && [ -n "$pid" ] &&
    tr '\0' ' ' < "/proc/$pid/cmdline" 2>/dev/null | grep -q "^unshare .*$here/inside.sh"
}
