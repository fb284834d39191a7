#!/bin/bash
# Put images of the sample services on Node.js and on Bun into bin/, without
# Docker: this machine's runtimes with the libraries they need, and workloads/,
# laid out as workloads/*/Dockerfile do. With --import into the cluster too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
. "$here/config.sh"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
arch=$(go env GOARCH)

# with_libraries ROOT PROGRAM...: copy the programs with their libraries.
with_libraries() {
  local root=$1; shift
  ldd "$@" | grep -o '/[^ :]*' | sort -u | while read -r library; do
    [ -e "$library" ] && mkdir -p "$root${library%/*}" && cp -Ln "$library" "$root$library"
  done
}

# modules FOLDER: copy node_modules itself if it is a link, so that what is removed from
# the copy is never removed from the original.
modules() { mkdir -p "$1" && cp -r node_modules/. "$1/"; }

# sample NAME USER ENTRYPOINT: pack $work/NAME.
sample() {
  GOWORK=off go -C "$repository/images" run . -name "millicore-$1" -out "$repository/bin/millicore-$1-image.tar" \
    -user "$2" -workdir /workloads -env 'HOME=/tmp PATH=/usr/local/bin:/usr/bin:/bin' -entrypoint "$3" "linux/$arch=$work/$1"
}

cd "$repository/workloads"
[ -e node_modules/.package-lock.json ] || die "workloads/node_modules is missing; scripts/setup-tests.sh makes it"
node=$(readlink -f "$(command -v node)") || die "Node.js is missing; scripts/setup-tests.sh installs it"

mkdir -p "$work"/{node,bun}/workloads
mkdir -p "$work/node/usr/local/bin" && cp "$node" "$work/node/usr/local/bin/node"
[ ! -d /usr/share/nodejs ] || { mkdir -p "$work/node/usr/share" && cp -rL /usr/share/nodejs "$work/node/usr/share/"; } # Debian's node has a part of itself there
with_libraries "$work/node" "$node"
cp -r package.json package-lock.json javascript node "$work/node/workloads/"
modules "$work/node/workloads/node_modules"
rm -rf "$work"/node/workloads/node_modules/{bun,@oven}
sample node 1000:1000 'node /workloads/node/main.js'

with_libraries "$work/bun" node_modules/bun/bin/bun.exe
cp -r package.json javascript bun "$work/bun/workloads/"
modules "$work/bun/workloads/node_modules"
rm -rf "$work"/bun/workloads/node_modules/{@oven,bun/bin/bunx.exe} # the same program again
sample bun 65534:65534 '/workloads/node_modules/bun/bin/bun.exe --no-install --no-env-file /workloads/bun/main.js'

[ "${1:-}" != --import ] || "$here/import.sh" "$repository"/bin/millicore-{node,bun}-image.tar
