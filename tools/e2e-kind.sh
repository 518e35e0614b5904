#!/usr/bin/env bash
# The stories on real containers. Usage: e2e-kind.sh BIN [NODE_IMAGE]
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$1 image=${2:-}

engine=
for candidate in docker podman nerdctl; do
  if command -v "$candidate" >/dev/null && timeout 10 "$candidate" info >/dev/null 2>&1; then
    engine=$candidate
    break
  fi
done
if [ -z "$engine" ]; then
  echo "kind stories not run: no container engine answers (docker, podman, nerdctl)"
  exit 0
fi
echo "e2e-kind: $engine, node image ${image:-that kind chooses}"

# The race detector needs C.
export CGO_ENABLED=1
export PIPEDECK_BIN=$bin PIPEDECK_TEST_NODE_IMAGE=$image PIPEDECK_TEST_ENGINE=$engine
go test -count=1 -race -timeout 20m -tags e2e ./devenv/cluster/kind/...
go run ./e2e/withkubernetes --kind --node-image "$image" --image sample-apps/hello-world \
  go test -count=1 -race -timeout 10m -tags e2e ./devenv/portforward
# Each story has its own cluster or two; more than two at once only slow one another down.
go test -count=1 -race -timeout 30m -parallel 2 -tags e2e,kind -run '^TestKind' ./e2e
