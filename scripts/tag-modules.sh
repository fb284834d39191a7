#!/usr/bin/env bash
# Tag the modules that the programs require, at HEAD, each as FOLDER/VERSION with the
# version of go.work, if that is not tagged yet: a part of each release
# (docs/releasing.md). With --push the new tags are pushed to origin. A module that has
# changed since its version was tagged needs a new version, and nothing is tagged.
set -euo pipefail
cd "$(dirname "$0")/.."
push=${1:-}

new=()
for folder in internal/cgroup maxprocs maxprocs/prometheus; do
  version=$(sed -n "s#.*millicore/$folder \(v[^ ]*\) =>.*#\1#p" go.work)
  tag=$folder/$version
  if ! git rev-parse --quiet --verify "refs/tags/$tag" >/dev/null; then
    new+=("$tag")
  elif ! git diff --quiet "$tag" HEAD -- "$folder" ':(exclude)*_test.go' ":(exclude)$folder/examples" ":(exclude)$folder/prometheus"; then
    echo "$folder has changed since $tag: require a new version (docs/releasing.md)" >&2
    exit 1
  fi
done
for tag in "${new[@]}"; do
  git tag "$tag"
  [ "$push" != --push ] || git push origin "refs/tags/$tag"
  echo "$tag"
done
