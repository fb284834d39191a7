#!/usr/bin/env bash
# Tag a release at HEAD: scripts/tag-modules.sh [VERSION] [--push], docs/releasing.md. The
# libraries that the programs require are tagged as FOLDER/VERSION with the versions of
# go.work, unless they are tagged already, and then the programs with VERSION. With --push
# the new tags are pushed to origin. Nothing is tagged if a library has changed since its
# version was tagged, or a go.mod requires another one.
set -euo pipefail
cd "$(dirname "$0")/.."
programs="" push=""
for arg; do
  case $arg in
    --push) push=yes ;;
    v*) programs=$arg ;;
    *) echo "usage: scripts/tag-modules.sh [VERSION] [--push], with a VERSION such as v0.2.0" >&2; exit 2 ;;
  esac
done

new=()
for folder in internal/cgroup maxprocs maxprocs/prometheus maxprocs/otel; do
  version=$(sed -n "s#.*millicore/$folder \(v[^ ]*\) =>.*#\1#p" go.work)
  tag=$folder/$version
  if other=$(git grep -hE "millicore/$folder v" HEAD -- '*go.mod' | grep -vE "millicore/$folder $version( |\$)"); then
    echo "a go.mod requires another version than $version, that of go.work:$other" >&2
    exit 1
  fi
  if ! git rev-parse --quiet --verify "refs/tags/$tag" >/dev/null; then
    new+=("$tag")
  elif ! git diff --quiet "$tag" HEAD -- "$folder" ':(exclude)*_test.go' ":(exclude)$folder/examples" ":(exclude)$folder/prometheus" ":(exclude)$folder/otel"; then
    echo "$folder has changed since $tag: require a new version (docs/releasing.md)" >&2
    exit 1
  fi
done
if [ -n "$programs" ]; then
  if git rev-parse --quiet --verify "refs/tags/$programs" >/dev/null; then
    echo "$programs is tagged already" >&2
    exit 1
  fi
  new+=("$programs")
fi
for tag in "${new[@]}"; do
  git tag "$tag"
  echo "$tag"
done
# One by one, the programs' last: GitHub starts no workflow for more than three tags that
# are pushed at once, and the programs require the others.
for tag in "${new[@]}"; do
  [ -z "$push" ] || git push --quiet origin "refs/tags/$tag"
done
