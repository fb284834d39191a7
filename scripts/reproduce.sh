#!/usr/bin/env bash
# Run the published experiments in full. Write docs/results.md, a row for each published
# claim, from their records, and the full reports into bin/results. It takes 79 minutes on
# a quiet machine, which nothing else should use meanwhile; trials beside a busy neighbour
# are repeated, and take longer. A finished record under runs/reproduce is kept, so that an
# interrupted call can be repeated; remove the folder to start again. With names, only
# those are run: scripts/reproduce.sh go-vs-node
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
    0 | 98 | 99) ;;           # an objective that was missed, or not decided: results like any other
    1) failed+=("$name") ;;   # it cannot be run here; the others can
    *) exit "$status" ;;
  esac
done

reports=bin/results
mkdir -p "$reports"
rm -f "$reports"/*.md
for name in "${published[@]}"; do
  if finished "$name"; then
    bin/millicore report "$records/$name" --markdown > "$reports/$name.md" || [ $? -ge 98 ]
  fi
done

# claims REPORT: its published claims, without the names of cells, and with the first
# reason of each verdict. The report has the others.
claims() {
  awk '
    sub(/^(### )?Published claims: /, "Published claims: ") { print $0 "\n"; on = 1; next }
    on && /^\|/ && ++rows > 2 {
      split($0, cell, / \| /)
      gsub(/ \([a-qs-z][^()]*\)/, "", cell[3]) # keeps "(range …)"
      sub(/( \||;.*)$/, "", cell[5])
      $0 = cell[1] " | " cell[2] " | " cell[3] " | " cell[4] " | " cell[5] " |"
    }
    on && /^\|/ { print }
    on && rows && /^$/ { exit }' "$1"
}

commit=$(git describe --always --dirty --abbrev=7 --exclude '*' 2>/dev/null || echo "that is not known")
{
  echo "# The published experiments, run again"
  echo
  # Rules of verdicts change: who reads the page must see by which ones it was written.
  echo "Written by \`make reproduce\` on $(date -u '+%-d %B %Y'), at commit $commit, from one run of each experiment. Verdicts"
  echo "follow the rules of that commit; [statistics.md](statistics.md#published-claims) has today's. The head of each file has"
  echo "the published figures, and what was scaled to a machine of this size. \`make reproduce\` writes the full reports into"
  echo "\`$reports\`. The machine:"
  echo
  find "$reports" -name '*.md' -exec sed -n 's/^- \(linux .* HZ [0-9]*\).*/- \1/p' {} + | sort -u
  for name in "${published[@]}"; do
    printf '\n## %s\n\n' "$name"
    bin/millicore experiments "$name" | awk '/^#$/ { exit } sub(/^# /, "")'
    if finished "$name"; then
      sed -n "s|^- $name · [a-z]* · \(.* trials\).*|[The file](../experiments/$name.yaml); measured on \1.|p" "$reports/$name.md"
      echo
      claims "$reports/$name.md"
    else
      echo "[The file](../experiments/$name.yaml); no finished run."
    fi
  done
} > docs/results.md.new
mv docs/results.md.new docs/results.md
echo "docs/results.md is written; the reports are in $reports, the records in $records" >&2
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
