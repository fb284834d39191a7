#!/usr/bin/env bash
# Run the published experiments in full and write docs/results.md from their
# records: 79 minutes on a quiet machine, which nothing else should use meanwhile;
# trials beside a busy neighbour are repeated, and take longer. A finished record
# under runs/reproduce is kept, so that an interrupted call can be repeated; remove
# the folder to start again. With names, only those are run:
# scripts/reproduce.sh go-vs-node
set -euo pipefail
cd "$(dirname "$0")/.."

published=(cpu-limits-and-go semaphore automaxprocs-table gomaxprocs-default go-vs-node go-vs-bun
  go-vs-bun-mongodb go-vs-bun-postgres workers-vs-goroutines workers-vs-goroutines-shared-map)
records=runs/reproduce
mkdir -p "$records"

# finished NAME: its plan was completed; see docs/record.md. A report is no proof:
# an interrupted run has one too.
finished() {
  tail -n 1 "$records/$1/trials.ndjson" 2>/dev/null | grep -q '"outcome":"finished"'
}

names=("$@")
[ $# -gt 0 ] || names=("${published[@]}")
failed=()
for name in "${names[@]}"; do
  if finished "$name"; then continue; fi
  if [ -e "$records/$name" ]; then
    rm -rf "${records:?}/$name.unfinished"
    mv "$records/$name" "$records/$name.unfinished"
  fi
  echo "== $name" >&2
  status=0
  bin/millicore run "$name" --out "$records/$name" >/dev/null || status=$?
  case $status in
    0 | 99) ;;                # 99 is an objective that was missed: a result like any other
    1) failed+=("$name") ;;   # it cannot be run here; the others can
    *) exit "$status" ;;
  esac
done

commit=$(git describe --always --dirty --abbrev=7 --exclude '*' 2>/dev/null || echo "that is not known")
{
  echo "# The published experiments, run again"
  echo
  # Rules of verdicts change: who reads the page must see by which ones it was written.
  echo "Written by \`make reproduce\` on $(date -u '+%-d %B %Y'), at commit $commit, from one run of each on the"
  echo "machine that is named with it; nothing is left out or smoothed. Headlines and verdicts follow the rules of that commit"
  echo "([statistics.md](statistics.md) has today's). How each was scaled to a machine of this size, and how to run it as"
  echo "published, stands in its file: \`millicore experiments NAME\`. What the words and flags mean: [method.md](method.md)."
  for name in "${published[@]}"; do
    printf '\n## %s\n\n' "$name"
    if finished "$name"; then
      bin/millicore report "$records/$name" --markdown || [ $? -eq 99 ]
    else
      echo "No finished run."
    fi
  done
} > docs/results.md.new
mv docs/results.md.new docs/results.md
echo "docs/results.md is written; the reports are in $records" >&2
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
