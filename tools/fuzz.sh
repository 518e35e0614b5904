#!/usr/bin/env bash
# Runs every fuzz target for a bounded time. Usage: fuzz.sh DURATION
set -euo pipefail
cd "$(dirname "$0")/.."
duration=$1
git grep -hoE '^func Fuzz[A-Za-z0-9]+' -- '*_test.go' >/dev/null || { echo "fuzz: there is no fuzz target" >&2; exit 1; }
git grep -oE '^func Fuzz[A-Za-z0-9]+' -- '*_test.go' | while IFS=: read -r file found; do
  target=${found#func }
  echo "fuzz: $target in $(dirname "$file")"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" "./$(dirname "$file")"
done
