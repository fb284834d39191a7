#!/bin/bash
# kubectl for the cluster.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/config.sh"
exec "$BIN/hyper" kubectl --kubeconfig "$KUBECONFIG_FILE" "$@"
