#!/usr/bin/env bash
# Runs a go command on the sources of the embedded Kubernetes, with the modules that its program is compiled with:
#   embeddedk8s.sh test ./...
set -euo pipefail
cd "$(dirname "$0")/.."
modfile=$(GOOS='' GOARCH='' go run ./devenv/cluster/embedded/trim/command devenv/embeddedk8s .cache/embeddedk8s)
command=$1
shift
cd devenv/embeddedk8s
GOWORK=off exec go "$command" -modfile="$modfile" "$@"
