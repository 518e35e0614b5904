#!/usr/bin/env bash
# Everything that can be said about the sources without running them.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
# The modules of the workspace.
packages="./... ./api/... ./plugins/sdk/..."
step() { echo "lint: $1"; }
fail() { echo "lint: $1" >&2; failed=1; }

step "formatting"
unformatted=$(git ls-files '*.go' | xargs gofmt -l)
[ -z "$unformatted" ] || fail "not gofmt-ed: $unformatted"

step "generated code"
mkdir -p .cache/tools
(cd tools && GOWORK=off go run ./protogen -root .. -check) || failed=1
(cd tools && GOWORK=off go run ./changelog -root .. -check) || failed=1
go run ./tui/keymap/generate .cache/keys.md
cmp -s .cache/keys.md docs/keys.md || fail "docs/keys.md is stale: run make generate"
go run ./cmd/pipedeck/reference/generate .cache/cli.md
cmp -s .cache/cli.md docs/cli.md || fail "docs/cli.md is stale: run make generate"
go run ./plugins/sdk/conformance/generate .cache/conformance.md
cmp -s .cache/conformance.md docs/conformance.md || fail "docs/conformance.md is stale: run make generate"

step "pictures of the UI"
go test -count=1 -run '^(TestScreensAsPictures|TestPicturesOfRecordedStories)$' ./tui/app ./cmd/pipedeck/film >/dev/null ||
  fail "docs/pictures is stale: run make pictures"

step "go.mod is tidy"
for module in . api plugins/sdk tools devenv/embeddedk8s e2e/bench/kubectl e2e/delve e2e/tofu e2e/vendors e2e/web; do
  tools/tidy.sh "$module" -diff || fail "go.mod of $module is not tidy: run tools/tidy.sh $module"
done

for os in linux darwin; do
  step "vet for $os"
  GOOS=$os go vet $packages || failed=1
done
step "vet of the end-to-end tests"
go vet -tags e2e,kind,python,platforms,bench ./e2e/... ./devenv/... ./plugins/kubernetes/... ./plugins/kubernetes_multicluster \
  ./plugins/analysis ./plugins/terraform/... || failed=1
(cd tools && GOWORK=off go vet ./...) || failed=1
(cd e2e/web && GOWORK=off go vet ./...) || failed=1
tools/embeddedk8s.sh vet ./... || failed=1

(cd tools && GOWORK=off go build -o ../.cache/tools/ ./roomlint ./sizelint ./wordlint ./linklint ./errlint mvdan.cc/unparam honnef.co/go/tools/cmd/staticcheck)
step "room rules"
ROOMLINT_ROOT=. .cache/tools/roomlint $packages || failed=1
step "errors that are dropped or compared with =="
.cache/tools/errlint $packages || failed=1
step "parameters and results without a use"
.cache/tools/unparam $packages || failed=1
step "words, spelling"
.cache/tools/wordlint -root . || failed=1
step "size of types and functions"
.cache/tools/sizelint -root . || failed=1
step "links"
.cache/tools/linklint -root . || failed=1
step "staticcheck"
# Fields and calls that PipeCD deprecates are still on its wire, so they are used, also through what embeds a
# client; generated code is as its generator likes it.
findings=$(.cache/tools/staticcheck $packages | grep -v -e 'pipedeck/api/.* is deprecated: .*(SA1019)$' \
  -e 'pipedeck/.* is deprecated: Do not use\. *(SA1019)$' -e '\.pb\.validate\.go:' || true)
[ -z "$findings" ] || fail "$findings"

[ "$failed" = 0 ] && echo "lint: ok"
exit "$failed"
