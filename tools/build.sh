#!/usr/bin/env bash
# Builds everything into one directory and says how far it is: the first time takes a while.
#   build.sh DIRECTORY PLUGIN...
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
shift
command -v go >/dev/null || { echo "there is no go command; install Go from https://go.dev/dl" >&2; exit 1; }
mkdir -p "$out/plugins"

packages=(./cmd/pipedeck ./cmd/piped)
for plugin in "$@"; do packages+=("./plugins/$plugin"); done

# pipedeck compiles the embedded Kubernetes from the sources beside its own only while they are the same as now.
sources=$(go run ./devenv/cluster/embedded/sources/digest devenv/embeddedk8s)
ldflags="-X github.com/pipedeck/pipedeck/devenv/cluster/embedded.builtFrom=$sources"

started=$SECONDS
stale=$(go list -deps -ldflags "$ldflags" -f '{{if .Stale}}x{{end}}' "${packages[@]}" | grep -c x || true)
if [ "$stale" -gt 20 ]; then
  echo "compiling $stale packages (first time only)"
  go build -v -ldflags "$ldflags" "${packages[@]}" 2>&1 >/dev/null | awk -v total="$stale" '
    / / { print; next }
    { n++; if (n % 10 == 0 || n == total) { printf "\r  %d of %d", n, total; fflush() } }
    END { if (n) print "" }'
fi
go build -ldflags "$ldflags" -o "$out/" ./cmd/pipedeck ./cmd/piped
for plugin in "$@"; do
  go build -o "$out/plugins/" "./plugins/$plugin"
done
# The library that images of the samples are built from, so that the first image takes a moment only.
CGO_ENABLED=0 GOOS=linux go build -trimpath -o /dev/null ./sample-apps/hello-world
if [ $((SECONDS - started)) -gt 5 ]; then echo "built in $((SECONDS - started)) s"; fi
