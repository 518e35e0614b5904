#!/usr/bin/env bash
# Runs a go command on the sources of the embedded Kubernetes, with the modules and flags of its program:
#   embeddedk8s.sh test ./...
set -euo pipefail
cd "$(dirname "$0")/.."
lines=$(GOOS='' GOARCH='' go run ./devenv/cluster/embedded/trim/command devenv/embeddedk8s .cache/embeddedk8s)
flags=()
while IFS= read -r line; do flags+=("$line"); done <<<"$lines"
command=$1
shift
cd devenv/embeddedk8s
# The first -gcflags replace those of GOFLAGS.
GOWORK=off exec go "$command" -gcflags=all=-dwarf=false "${flags[@]}" "$@"
