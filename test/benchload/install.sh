#!/usr/bin/env bash
# Install the load generators that make bench-load compares Millicore's with, and
# nginx. Safe to run again: what is there is left as it is. What cannot be
# installed is said, and left out of the comparison. Those that Debian has are its
# own; the others go into the user's folder for caches, never into this one.
set -euo pipefail
cd "$(dirname "$0")"

peers=${XDG_CACHE_HOME:-$HOME/.cache}/millicore/peers
mkdir -p "$peers/bin"

debian=()
need() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || debian+=("$2"); }
need nginx nginx
need wrk wrk
need h2load nghttp2-client
if [ ${#debian[@]} -gt 0 ]; then
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1 && apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${debian[@]}" >/dev/null; then
    echo "installed: ${debian[*]}" >&2
  else
    echo "left out: ${debian[*]}; install them, or run this as root on Debian with its packages in reach" >&2
  fi
fi

# is NAME VERSION reports whether a Go program is installed in a version.
is() { [ -x "$peers/bin/$1" ] && go version -m "$peers/bin/$1" | grep -Eq "^[[:space:]]mod[[:space:]].*[[:space:]]$2([[:space:]]|$)"; }

# golang NAME VERSION COMMAND... builds one if it is not installed.
golang() {
  local name=$1 version=$2
  shift 2
  is "$name" "$version" && return
  echo "building $name $version" >&2
  GOWORK=off GOFLAGS= CGO_ENABLED=0 GOBIN="$peers/bin" "$@" || echo "left out: $name $version could not be built" >&2
}
golang fortio v1.68.0 go install -trimpath fortio.org/fortio@v1.68.0
golang hey v0.1.5 go install -trimpath github.com/rakyll/hey@v0.1.5
golang ghz v0.93.0 go install -trimpath github.com/bojand/ghz/cmd/ghz@v0.93.0

oha=1.16.0
if ! "$peers/bin/oha" --version 2>/dev/null | grep -qF " $oha"; then
  if command -v cargo >/dev/null 2>&1; then
    echo "building oha $oha, some minutes" >&2
    cargo install oha --quiet --locked --version "$oha" --root "$peers" || echo "left out: oha $oha could not be built" >&2
  else
    echo "left out: oha $oha; cargo, which builds it, is not installed" >&2
  fi
fi
