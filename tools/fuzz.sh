#!/usr/bin/env bash
# Runs every fuzz target for a bounded time. Usage: fuzz.sh DURATION
set -euo pipefail
cd "$(dirname "$0")/.."
duration=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Before Go 1.27 the end of -fuzztime may itself be reported as a failure (go.dev/issue/75804). Only that bare
# message is let pass: whatever an input brings to light prints more, and most of it writes the input down.
ended_by_clock() {
  local said
  said=$(sed -n '/^--- FAIL/,$p' "$log")
  printf '%s\n' "$said" | sed -n 2p | grep -qx '    context deadline exceeded' &&
    printf '%s\n' "$said" | sed -n 3p | grep -qx FAIL &&
    ! grep -qiE 'failing input|panic|hung or terminated' "$log"
}

# The last figures; a slow target with a large corpus may have no time for new inputs.
figures() { grep 'execs:' "$log" | tail -1 || echo "fuzz: only known inputs, no time for new ones"; }

git grep -hoE '^func Fuzz[A-Za-z0-9]+' -- '*_test.go' >/dev/null || { echo "fuzz: there is no fuzz target" >&2; exit 1; }
git grep -oE '^func Fuzz[A-Za-z0-9]+' -- '*_test.go' | while IFS=: read -r file found; do
  target=${found#func }
  echo "fuzz: $target in $(dirname "$file")"
  if go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" "./$(dirname "$file")" >"$log" 2>&1; then
    figures
  elif ended_by_clock; then
    # Printed without its word FAIL, which readers of the output would take for a finding.
    figures
    echo "fuzz: $target: no input failed; the time was up while one ran"
  else
    cat "$log"
    exit 1
  fi
done
