#!/bin/bash
# Draw docs/report.png, the picture of the README: the first screen of the report that
# make demo writes. As root, with Chromium, on a machine that is otherwise quiet; two
# minutes. With a record as its argument it draws the report of that record.
set -euo pipefail
cd "$(dirname "$0")/.."
record=${1:-bin/picture}
if [ $# = 0 ]; then
    rm -rf "$record"
    bin/millicore run quick --out "$record"
fi
for browser in chromium chromium-browser google-chrome; do
    command -v "$browser" >/dev/null && break
done
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" --window-size=1000,795 \
    --force-device-scale-factor=1 --screenshot=docs/report.png "file://$(realpath "$record")/report.html" 2>/dev/null
size=$(stat -c %s docs/report.png)
if [ "$size" -gt 150000 ]; then
    echo "docs/report.png has $size bytes, more than 150000" >&2
    exit 1
fi
