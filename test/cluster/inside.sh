#!/bin/bash
# The first process of the cluster's namespaces: network, then etcd, containerd,
# control plane, kubelet. Started by up.sh, which gives it $here.
set -euo pipefail
. "$here/config.sh"
pki=$CLUSTER_STATE/pki
mount --make-rshared /
mount -t tmpfs tmpfs /run                               # sockets of shims, xtables.lock
mount --bind "$CLUSTER_STATE/varlog" /var/log           # the kubelet's /var/log/containers, /var/log/pods
mkdir -p /run/lock /run/containerd
ln -s "$CONTAINERD_SOCKET" /run/containerd/containerd.sock # where the kubelet's cAdvisor looks for containers' names
ip link set lo up
for _ in $(seq 200); do [ -e /proc/sys/net/ipv4/conf/klab1 ] && break; sleep 0.05; done
ip addr add "$NODE_IP/30" dev klab1
ip link set klab1 up
ip route add default via "$HOST_IP" dev klab1           # this machine forwards nothing further
# The service "kubernetes" is the API server itself, which listens on port 443 on all
# addresses: pods reach it by KUBERNETES_SERVICE_HOST with and without kube-proxy.
ip addr add "$API_IP/32" dev lo
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables 2>/dev/null || true

mkdir -p "$CLUSTER_STATE/cni"
cat > "$CLUSTER_STATE/cni/10-cluster.conflist" <<J
{ "cniVersion": "1.0.0", "name": "cluster",
  "plugins": [ { "type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
    "ipam": { "type": "host-local", "dataDir": "/run/cni-ipam", "ranges": [[{"subnet": "$POD_CIDR"}]], "routes": [{"dst": "0.0.0.0/0"}] } } ] }
J

cat > "$CLUSTER_STATE/containerd.toml" <<T
version = 3
root = "$CLUSTER_STATE/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.blockfile", "io.containerd.snapshotter.v1.erofs", "io.containerd.internal.v1.opt", "io.containerd.nri.v1.nri"]
[grpc]
  address = "$CONTAINERD_SOCKET"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "localhost/cluster/pause:dev"
[plugins."io.containerd.cri.v1.runtime"]
  disable_apparmor = true
  restrict_oom_score_adj = true # for machines without CAP_SYS_RESOURCE
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["$BIN"]
    conf_dir = "$CLUSTER_STATE/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      BinaryName = "$BIN/runc"
      SystemdCgroup = false
T

# Clients of the kubelet authenticate with a certificate of the cluster's CA (the API
# server) or a token (all others); the API server authorizes them.
cat > "$CLUSTER_STATE/kubelet.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false            # true is the default since 1.35: it would refuse to start on cgroup v1
cgroupDriver: cgroupfs
containerRuntimeEndpoint: unix://$CONTAINERD_SOCKET
address: $NODE_IP
healthzBindAddress: 127.0.0.1
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true, cacheTTL: 2s}
  x509: {clientCAFile: $pki/ca.crt}
authorization: {mode: Webhook, webhook: {cacheAuthorizedTTL: 2s, cacheUnauthorizedTTL: 2s}}
failSwapOn: false
makeIPTablesUtilChains: false
resolvConf: ""
clusterDomain: cluster.local
volumePluginDir: $CLUSTER_STATE/plugins
podLogsDir: /var/log/pods
nodeStatusUpdateFrequency: 5s
configMapAndSecretChangeDetectionStrategy: Watch
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100
Y
kubelet_ca=()
if [ "$KUBELET_CERTIFICATE" = cluster ]; then
  printf 'tlsCertFile: %s\ntlsPrivateKeyFile: %s\n' "$pki/kubelet.crt" "$pki/kubelet.key" >> "$CLUSTER_STATE/kubelet.yaml"
  kubelet_ca=(--kubelet-certificate-authority="$pki/ca.crt")
fi

export PATH="$BIN:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
start() { local n=$1; shift; "$@" > "$CLUSTER_STATE/log/$n.log" 2>&1 & echo "$n: process $! in the namespace"; }
control() { start "$1" hyper "$1" --kubeconfig="$pki/$2.kubeconfig" --authentication-kubeconfig="$pki/$2.kubeconfig" --authorization-kubeconfig="$pki/$2.kubeconfig" --leader-elect=false --bind-address=127.0.0.1 "${@:3}"; }

start etcd hyper etcd --name cluster --data-dir "$CLUSTER_STATE/etcd" --unsafe-no-fsync \
  --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster cluster=http://127.0.0.1:2380
start containerd containerd --config "$CLUSTER_STATE/containerd.toml"
start kube-apiserver hyper kube-apiserver --etcd-servers=http://127.0.0.1:2379 \
  --bind-address=0.0.0.0 --advertise-address="$NODE_IP" --secure-port=443 --cert-dir="$pki" \
  --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
  --service-cluster-ip-range="$SVC_CIDR" --token-auth-file="$pki/tokens.csv" --authorization-mode=Node,RBAC \
  --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/sa.key" --service-account-signing-key-file="$pki/sa.key" \
  --kubelet-preferred-address-types=InternalIP --kubelet-client-certificate="$pki/apiserver-kubelet.crt" --kubelet-client-key="$pki/apiserver-kubelet.key" "${kubelet_ca[@]}" \
  --requestheader-client-ca-file="$pki/front-ca.crt" --requestheader-allowed-names=front-proxy \
  --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- \
  --proxy-client-cert-file="$pki/front-proxy.crt" --proxy-client-key-file="$pki/front-proxy.key" --enable-aggregator-routing=true \
  --allow-privileged=true --profiling=false
for _ in $(seq 100); do [ -S "$CONTAINERD_SOCKET" ] && break; sleep 0.1; done
for archive in "$CLUSTER_CACHE"/images/*.tar; do ctr --address "$CONTAINERD_SOCKET" -n k8s.io images import "$archive"; done
# Ready includes the roles of RBAC: the controller manager ends permanently if it starts before them.
token=$(cut -d, -f1 "$pki/tokens.csv" | head -n 1)
for _ in $(seq 600); do curl -sf -m 2 -o /dev/null --cacert "$pki/ca.crt" -H "Authorization: Bearer $token" "https://$NODE_IP/readyz" && break; sleep 0.1; done
# Autoscaling samples every 2 s and scales down after 10 s, instead of 15 s and 5
# minutes, so that a test can observe both directions.
control kube-controller-manager kcm --service-account-private-key-file="$pki/sa.key" --root-ca-file="$pki/ca.crt" --use-service-account-credentials=true \
  --horizontal-pod-autoscaler-sync-period=2s --horizontal-pod-autoscaler-downscale-stabilization=10s \
  --horizontal-pod-autoscaler-initial-readiness-delay=1s --horizontal-pod-autoscaler-cpu-initialization-period=5s
control kube-scheduler scheduler
start kubelet hyper kubelet --config="$CLUSTER_STATE/kubelet.yaml" --kubeconfig="$pki/kubelet.kubeconfig" --root-dir="$CLUSTER_STATE/kubelet" --cert-dir="$pki/self" \
  --hostname-override="$NODE" --node-ip="$NODE_IP" --housekeeping-interval="$HOUSEKEEPING"

# The rules of kube-proxy; a kernel may not support all of them.
iptables_work() {
  iptables-restore --noflush <<R
*nat
:MILLICORE-TRY - [0:0]
-A MILLICORE-TRY -m comment --comment try -m statistic --mode random --probability 0.5 -m mark --mark 0x1/0x1 -m conntrack --ctstate NEW -j MASQUERADE --random-fully
-A MILLICORE-TRY -p tcp -m tcp -j DNAT --to-destination 127.0.0.1:1
COMMIT
R
}
if [ "$PROXY_MODE" = auto ]; then
  PROXY_MODE=none
  if iptables_work; then PROXY_MODE=iptables; iptables -t nat -F MILLICORE-TRY; iptables -t nat -X MILLICORE-TRY; fi
fi
if [ "$PROXY_MODE" != none ]; then
  start kube-proxy hyper kube-proxy --kubeconfig="$pki/proxy.kubeconfig" --proxy-mode="$PROXY_MODE" --hostname-override="$NODE" --cluster-cidr="$POD_CIDR" \
    --conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0
else
  echo "without kube-proxy: only the API server's service address works"
fi
wait
