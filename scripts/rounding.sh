#!/usr/bin/env bash
# Measure what rounding a CPU limit up or down does: the table of docs/gomaxprocs.md
# ("Rounding, measured"). For each limit, GOMAXPROCS 1 and 2 with 50 users in a closed loop,
# and then in an open loop at 60% of the higher throughput. It needs 2 CPUs, root, a quiet
# machine and 6 minutes, and writes bin/rounding/ and the table to standard output.
set -euo pipefail
cd "$(dirname "$0")/.."

repeats=${REPEATS:-3} # REPEATS=6 gives intervals of 95%; LIMITS=1.5 measures one limit
out=bin/rounding
rm -rf "$out"
mkdir -p "$out"

# columns NAME...: the columns of a CSV on standard input that have these names.
columns() {
  awk -F, -v names="$*" '
    NR == 1 { n = split(names, want, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
    { line = ""; for (i = 1; i <= n; i++) line = line (i > 1 ? " " : "") $(at[want[i]]); print line }'
}

# measure NAME FLAG...: run the experiment; the result is out/NAME.csv.
measure() {
  local name=$1 status=0
  shift
  bin/millicore run scripts/rounding.yaml --seed 1 --out "$out/$name" --set "measure.repeats=$repeats" "$@" >&2 || status=$?
  [ $status -eq 0 ] || [ $status -eq 98 ] || [ $status -eq 99 ]
  bin/millicore report "$out/$name" --csv > "$out/$name.csv"
}

echo "| limit | GOMAXPROCS | 50 users: requests/s | p50 ms | p99 ms | throttled | 60%: requests/s | p50 ms | p99 ms | throttled |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for limit in ${LIMITS:-1 1.5 1.9 2}; do
  millis=$(awk "BEGIN { print $limit * 1000 }")m
  measure "$limit-users" --set "limits.cpu=$millis"
  rate=$(columns rate_rps < "$out/$limit-users.csv" | sort -g | tail -n 1 | awk '{ printf "%d", 0.6 * $1 }')
  measure "$limit-rate" --set "limits.cpu=$millis" --set load.users=null --set "load.rate=$rate"
  wanted=(vary_procs rate_rps latency_p50_ms latency_p99_ms latency_p99_ms_low latency_p99_ms_high throttled_periods periods)
  join <(columns "${wanted[@]}" < "$out/$limit-users.csv" | sort) <(columns "${wanted[@]}" < "$out/$limit-rate.csv" | sort) |
    awk -v limit="$limit" '
      function share(n, of) { return of > 0 ? sprintf("%.0f%%", 100 * n / of) : "–" }
      { printf "| %s | %s | %.0f | %.1f | %.1f (%.1f–%.1f) | %s | %.0f | %.2f | %.2f (%.2f–%.2f) | %s |\n", limit, $1,
          $2, $3, $4, $5, $6, share($7, $8), $9, $10, $11, $12, $13, share($14, $15) }'
done
