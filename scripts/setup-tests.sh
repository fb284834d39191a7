#!/usr/bin/env bash
# Install what the tests need and this machine lacks. Safe to run again: what is
# there is left as it is. Where nothing can be installed the tests that want it
# are skipped with their reason, but with CI=true its absence is a failure.
set -euo pipefail
. "$(dirname "$0")/python-servers.sh"

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need gcc gcc                # the race detector
need chromium chromium      # the report is looked at in a browser
need nginx nginx            # servers that this project did not write
need haproxy haproxy
need erl erlang-base
need redis-server redis-server
need memcached memcached
need apache2 apache2-bin    # without its service
ls /usr/sbin/php-fpm* >/dev/null 2>&1 || missing+=(php-fpm)
need node nodejs             # a sample service's runtime, and npm's
need npm npm
need javac default-jdk-headless
need python3 python3
python3 -c 'import ensurepip' >/dev/null 2>&1 || missing+=(python3-venv)
need dockerd docker.io      # tests start daemons of their own
need ip iproute2            # test/cluster: its network,
need iptables iptables      # services' addresses,
need openssl openssl        # keys,
need curl curl
need pkg-config pkg-config  # and runc
# Debian's postgresql would start a server of its own; only its programs are wanted.
if ! command -v initdb >/dev/null 2>&1 && ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
  missing+=(postgresql)
  if [ "$(id -u)" -eq 0 ] && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
    mkdir -p /etc/postgresql-common
    echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf
  fi
fi

# The packages of Docker, HAProxy, PHP-FPM and others would start daemons for the whole
# machine, now and at each boot; only their programs are wanted.
without_service() {
  local policy=/usr/sbin/policy-rc.d made= status=0 php= units="docker.service docker.socket"
  for unit in haproxy redis-server memcached; do
    command -v "$unit" >/dev/null 2>&1 || units="$units $unit.service"
  done
  command -v containerd >/dev/null 2>&1 || units="$units containerd.service"
  ls /usr/sbin/php-fpm* >/dev/null 2>&1 && php=yes
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' > "$policy" && chmod +x "$policy"
    made=yes
  fi
  "$@" || status=$?
  [ -z "$made" ] || rm -f "$policy"
  for unit in /lib/systemd/system/php*-fpm.service; do
    [ -n "$php" ] || [ ! -e "$unit" ] || units="$units ${unit##*/}"
  done
  if [ $status -eq 0 ] && command -v systemctl >/dev/null 2>&1; then
    systemctl --quiet disable $units >/dev/null 2>&1 || true
  fi
  return $status
}

failed=
install() {
  [ ${#missing[@]} -eq 0 ] && return
  local how=
  case " ${missing[*]} " in *" docker.io "* | *" haproxy "* | *" php-fpm "* | *" redis-server "* | *" memcached "*) how=without_service ;; esac
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing: ${missing[*]}"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive $how apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null && return
  fi
  echo "missing: ${missing[*]}; install them, or run this as root on Debian with its packages in reach" >&2
  failed=yes
}

# What the sample services in JavaScript need, Bun among it. npm writes the
# hidden list last.
packages() {
  [ workloads/node_modules/.package-lock.json -nt workloads/package-lock.json ] && return
  echo "installing the packages of workloads/package-lock.json"
  npm --prefix workloads ci --omit=dev --ignore-scripts --loglevel=error && own_bun && return
  echo "missing: the packages of workloads/; run npm ci --omit=dev --ignore-scripts there, with npm's registry in reach" >&2
  failed=yes
}

# Scripts of packages do not run. That of bun would put its program in place.
own_bun() {
  local program
  for program in workloads/node_modules/@oven/bun-*/bin/bun; do
    "$program" --version >/dev/null 2>&1 && cp "$program" workloads/node_modules/bun/bin/bun.exe && return
  done
  return 1
}

# Servers of Python that Debian has in other versions, or not at all.
python_servers() {
  local venv=$1
  cmp -s scripts/python-servers.txt "$venv/installed.txt" && return
  echo "installing scripts/python-servers.txt in $venv"
  rm -rf "$venv" && python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r scripts/python-servers.txt &&
    cp scripts/python-servers.txt "$venv/installed.txt" && return
  echo "missing: the programs of scripts/python-servers.txt; install them with PyPI in reach" >&2
  failed=yes
}

install
packages
python_servers "$PYTHON_SERVERS"
[ -z "$failed" ] || [ "${CI:-}" != true ]
