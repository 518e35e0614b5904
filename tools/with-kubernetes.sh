#!/usr/bin/env bash
# Runs a command while an embedded Kubernetes answers; PIPEDECK_TEST_KUBECONFIG reaches it.
#   with-kubernetes.sh COMMAND...
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(bin/pipedeck compile-embedded)
dir=$(mktemp -d)
mkfifo "$dir/events" "$dir/life"
"$program" --data-dir "$dir/data" --kubeconfig "$dir/kubeconfig" --exit-with-stdin \
  <"$dir/life" >"$dir/events" 2>"$dir/log" &
server=$!
exec 8>"$dir/life" 9<"$dir/events"
stop() {
  exec 8>&-
  cat <&9 >/dev/null || true
  wait "$server" || true
  rm -rf "$dir"
}
trap stop EXIT
while read -r line <&9; do
  case $line in *'"ready"'*) ready=1; break ;; esac
done
if [ -z "${ready:-}" ]; then
  echo "the embedded Kubernetes did not start:" >&2
  tail -n 20 "$dir/log" >&2
  exit 1
fi
cat <&9 >/dev/null &
PIPEDECK_TEST_KUBECONFIG=$dir/kubeconfig "$@"
