#!/bin/bash
# Import image archives into the cluster: import.sh FILE...
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/config.sh"
running || die "no cluster is up in $CLUSTER_STATE; start it: $here/up.sh"
for archive in "$@"; do
  said=$("$BIN/ctr" --address "$CONTAINERD_SOCKET" -n k8s.io images import "$archive" 2>&1) || die "import $archive: $said"
  echo "imported $(tar -xOf "$archive" index.json | sed -n 's/.*"io.containerd.image.name": *"\([^"]*\)".*/\1/p')"
done
