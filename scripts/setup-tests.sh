#!/usr/bin/env bash
# Install what the tests need and this machine lacks. Safe to run again: what is
# there is left as it is. Where nothing can be installed the tests that want it
# are skipped with their reason, but with CI=true its absence is a failure.
set -euo pipefail

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need gcc gcc                # the race detector
need chromium chromium      # the report is looked at in a browser

[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing: ${missing[*]}"
  if apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
    exit 0
  fi
fi
echo "missing: ${missing[*]}; install them, or run this as root on Debian with its packages in reach" >&2
[ "${CI:-}" != true ]
