#!/bin/bash
# Build every program and image of the cluster into $CLUSTER_CACHE, except those that
# exist in the right version. With --built nothing is built: the exit code reports
# whether everything exists.
# Needs Go, and for runc gcc and pkg-config. libseccomp's headers and static library
# are unpacked from Debian's package if they are not installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/config.sh"
mkdir -p "$BIN" "$CLUSTER_CACHE/images"
exec 9> "$CLUSTER_CACHE/lock" && flock 9 # two that build at once would do it twice
export GOWORK=off CGO_ENABLED=0
unset GOFLAGS GOBIN
small='-s -w' # no symbols
only_look=; [ "${1:-}" != --built ] || only_look=yes

# once NAME KEY COMMAND...: run it unless it was run to its end with this key.
once() {
  local name=$1 key=$2 mark=$CLUSTER_CACHE/made/$1; shift 2
  [ "$(cat "$mark" 2>/dev/null)" = "$key" ] && return
  [ -z "$only_look" ] || exit 1
  echo "building $name" >&2
  mkdir -p "${mark%/*}"
  "$@"
  echo "$key" > "$mark"
}
sources() { cat "$@" 2>/dev/null | sha256sum | cut -c1-16; }
go_version=$(go env GOVERSION)

module() { go -C "$here/$1" build -trimpath -ldflags "$small ${2:-}" -o "$BIN/$1" .; }

# proxy FLAG... PROGRAM@VERSION: straight from the module proxy, with the module's own requirements.
proxy() { (cd / && GOBIN=$BIN go install -trimpath "$@"); }

hyper() {
  local v=k8s.io/component-base/version
  module hyper "-X $v.gitVersion=v$K8S -X $v.gitMajor=${K8S%%.*} -X $v.gitMinor=$(echo "$K8S" | cut -d. -f2)"
}
containerd() {
  local package=github.com/containerd/containerd/v2
  proxy -ldflags "$small -X $package/version.Version=$CONTAINERD" -tags 'no_btrfs no_zfs no_devmapper' \
    $package/cmd/{containerd,containerd-shim-runc-v2,ctr}@$CONTAINERD
}
plugins() { proxy -ldflags "$small" github.com/containernetworking/plugins/plugins/{main/bridge,main/loopback,ipam/host-local}@$CNI; }
metrics_server() { proxy -ldflags "$small -X k8s.io/component-base/version.gitVersion=$METRICS" sigs.k8s.io/metrics-server/cmd/metrics-server@$METRICS; }

# The seccomp tag is needed: without it runc refuses pods that ask for RuntimeDefault.
runc() {
  pkg-config --exists libseccomp && [ -n "$(find /usr/lib -name libseccomp.a 2>/dev/null)" ] || libseccomp
  CGO_ENABLED=1 proxy -tags 'seccomp netgo osusergo' -ldflags "$small -extldflags -static" github.com/opencontainers/runc@$RUNC
}
libseccomp() {
  local dir=$CLUSTER_CACHE/libseccomp lib
  rm -rf "$dir" && mkdir -p "$dir/pc"
  (cd "$dir" && { apt-get download -qq libseccomp-dev || { apt-get update -qq && apt-get download -qq libseccomp-dev; } } >&2 && dpkg-deb -x libseccomp-dev_*.deb .) ||
    die "runc needs libseccomp's static library, and Debian's libseccomp-dev is not available; install it"
  lib=$(dirname "$(find "$dir" -name libseccomp.a)")
  rm -f "$lib"/libseccomp.so
  sed "s|^prefix=.*|prefix=$dir/usr|; s|^libdir=.*|libdir=$lib|; s|^includedir=.*|includedir=$dir/usr/include|" \
    "$lib/pkgconfig/libseccomp.pc" > "$dir/pc/libseccomp.pc"
  export PKG_CONFIG_PATH=$dir/pc
}

# image NAME PROGRAM: an image of one static program.
image() {
  local root; root=$(mktemp -d)
  cp "$BIN/$2" "$root/"
  go -C "$here/../../images" run . -name "$1" -out "$CLUSTER_CACHE/images/$2.tar" -entrypoint "/$2" "linux/$(go env GOARCH)=$root"
  rm -rf "$root"
}

once hyper "$K8S $go_version $(sources "$here"/hyper/*)" hyper
once etcd "$go_version $(sources "$here"/etcd/*)" module etcd
once pause "$go_version $(sources "$here"/pause/*)" module pause
once containerd "$CONTAINERD $go_version" containerd
once plugins "$CNI $go_version" plugins
once runc "$RUNC $go_version" runc
once image-pause "$(sources "$BIN/pause" "$here"/../../images/*)" image localhost/cluster/pause:dev pause
if [ "$METRICS_SERVER" = yes ]; then
  once metrics-server "$METRICS $go_version" metrics_server
  once image-metrics-server "$(sources "$BIN/metrics-server" "$here"/../../images/*)" image localhost/cluster/metrics-server:dev metrics-server
fi
