#!/bin/bash
# Build every program and image of the cluster into $CLUSTER_CACHE, except those that
# exist in the right version. It prints the seconds that each step took.
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

# once NAME KEY COMMAND...: run it unless it was run to its end with this key.
once() {
  local name=$1 key=$2 mark=$CLUSTER_CACHE/made/$1 began=$SECONDS; shift 2
  [ "$(cat "$mark" 2>/dev/null)" = "$key" ] && return
  echo "building $name" >&2
  mkdir -p "${mark%/*}"
  "$@"
  echo "$key" > "$mark"
  echo "built $name in $((SECONDS - began)) s" >&2
}
sources() { cat "$@" 2>/dev/null | sha256sum | cut -c1-16; }
go_version=$(go env GOVERSION)

# proxy FLAG... PROGRAM@VERSION: straight from the module proxy, with the module's own requirements.
proxy() { (cd / && GOBIN=$BIN go install -trimpath "$@"); }

hyper() {
  local v=k8s.io/component-base/version k8s
  k8s=$(go -C "$here/hyper" list -m -f '{{.Version}}' k8s.io/kubernetes)
  go -C "$here/hyper" build -trimpath -o "$BIN/hyper" \
    -ldflags "$small -X $v.gitVersion=$k8s -X $v.gitMajor=1 -X $v.gitMinor=$(echo "$k8s" | cut -d. -f2)" .
  ln -f "$BIN/hyper" "$BIN/metrics-server"
}
containerd() {
  local package=github.com/containerd/containerd/v2
  proxy -ldflags "$small -X $package/version.Version=$CONTAINERD" -tags 'no_btrfs no_zfs no_devmapper' \
    $package/cmd/{containerd,containerd-shim-runc-v2,ctr}@$CONTAINERD
}
plugins() { proxy -ldflags "$small" github.com/containernetworking/plugins/plugins/{main/bridge,main/loopback,ipam/host-local}@$CNI; }
pause() { go -C "$here/pause" build -trimpath -ldflags "$small" -o "$BIN/pause" .; }

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

once hyper "$go_version $(sources "$here"/hyper/*)" hyper
once containerd "$CONTAINERD $go_version" containerd
once plugins "$CNI $go_version" plugins
once runc "$RUNC $go_version" runc
once pause "$go_version $(sources "$here"/pause/*)" pause
once image-pause "$(sources "$BIN/pause" "$here"/../../images/*)" image localhost/cluster/pause:dev pause
once image-metrics-server "$(sources "$BIN/metrics-server" "$here"/../../images/*)" image localhost/cluster/metrics-server:dev metrics-server
