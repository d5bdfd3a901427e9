#!/bin/bash
# Downloads a release, verifies, and leaves a SARIF log: what `action.yml` runs. Its inputs are variables.
set -euo pipefail

name="threadproof-$THREADPROOF_VERSION-linux-$(uname -m)"
url=${THREADPROOF_URL:-https://github.com/threadproof/threadproof/releases/download/v$THREADPROOF_VERSION/$name.tar.gz}
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/threadproof.XXXXXX")
curl --fail --silent --show-error --location --retry 3 --output "$folder/archive.tar.gz" "$url"
if [ -n "$THREADPROOF_SHA256" ]; then
  echo "$THREADPROOF_SHA256  $folder/archive.tar.gz" | sha256sum --check --quiet
fi
tar -C "$folder" --strip-components=1 -xzf "$folder/archive.tar.gz"

words=()
if [ -n "$THREADPROOF_BASELINE" ]; then
  words+=(--baseline "$THREADPROOF_BASELINE")
fi
# Both are separated by spaces. Patterns are expanded below, and names with spaces match patterns.
set -f
# shellcheck disable=SC2206
words+=($THREADPROOF_OPTIONS)
# shellcheck disable=SC2206
patterns=($THREADPROOF_FILES)
set +f
shopt -s globstar
files=()
for pattern in "${patterns[@]}"; do
  found=()
  while IFS= read -r file; do found+=("$file"); done < <(compgen -G "$pattern" || true)
  if [ ${#found[@]} -eq 0 ]; then
    echo "threadproof: no file matches $pattern" >&2
    exit 3
  fi
  files+=("${found[@]}")
done

sarif="$folder/threadproof.sarif"
status=0
"$folder/bin/threadproof" verify --format sarif "${words[@]}" -- "${files[@]}" > "$sarif" || status=$?
{
  echo "sarif=$sarif"
  echo "status=$status"
} >> "$GITHUB_OUTPUT"
case $status in
  0) ;;
  2) [ "$THREADPROOF_UNKNOWN" != fail ] || exit 2 ;;
  *) exit "$status" ;;
esac
