#!/usr/bin/env bash
# go mod tidy of one module. It knows no workspace, and no proxy has the modules of this repository before their
# release, so it gets a copy of go.mod that finds them here. Usage: tidy.sh MODULE [-diff]
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD module=$1
export GOWORK=off
cd "$module"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp go.mod "$work/go.mod"
[ ! -e go.sum ] || cp go.sum "$work/go.sum"
siblings=()
for name in api plugins/sdk; do
  path=github.com/pipedeck/pipedeck/$name
  # A module for tests may have the replacement itself.
  grep -qE "^module $path\$|$path => " go.mod || siblings+=("$path=$root/$name")
done
[ ${#siblings[@]} = 0 ] || go mod edit "${siblings[@]/#/-replace=}" "$work/go.mod"
if [ "${2:-}" = -diff ]; then
  go mod tidy -diff -modfile="$work/go.mod"
  exit
fi
go mod tidy -modfile="$work/go.mod"
for sibling in "${siblings[@]}"; do go mod edit -dropreplace="${sibling%%=*}" "$work/go.mod"; done
cp "$work/go.mod" go.mod
[ ! -e "$work/go.sum" ] || cp "$work/go.sum" go.sum
