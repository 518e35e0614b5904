#!/usr/bin/env bash
# Builds everything into one directory and says how far it is: the first time takes a while.
#   build.sh DIRECTORY PLUGIN...    all of it
#   build.sh --first DIRECTORY      only pipedeck, which compiles the others with --compile
set -euo pipefail
cd "$(dirname "$0")/.."
first=
if [ "$1" = --first ]; then first=yes; shift; fi
out=$1
shift
command -v go >/dev/null || { echo "there is no go command; install Go from https://go.dev/dl" >&2; exit 1; }
mkdir -p "$out/plugins"

programs=(./cmd/pipedeck)
[ -n "$first" ] || programs+=(./cmd/piped ./cmd/pipedeck-more)
plugins=()
for plugin in "$@"; do plugins+=("./plugins/$plugin"); done

# Packages that are compiled with the same flags are compiled once: those of package devenv/gobuild, for all programs.
export GOFLAGS="-buildvcs=false -trimpath -gcflags=all=-dwarf=false" CGO_ENABLED=0
# Compilers collect garbage only above a limit; with few cores, each compiler gets one.
if [ -z "${GOMEMLIMIT:-}" ]; then export GOMEMLIMIT=512MiB GOGC="${GOGC:-off}"; fi
cores=$(getconf _NPROCESSORS_ONLN)
if [ "$cores" -le 4 ] && [ -z "${GOMAXPROCS:-}" ]; then export GOMAXPROCS=1 GOFLAGS="$GOFLAGS -p=$cores"; fi

# show turns what the go command says into one line that changes, or into few lines where there is no terminal.
show() {
  local compiled=0 downloaded=0 line begin='' end=$'\n' every=100
  if [ -t 1 ]; then begin=$'\r\033[K'; end=; every=1; fi
  while IFS= read -r line; do
    case $line in
      "go: downloading "*)
        downloaded=$((downloaded + 1))
        [ $((downloaded % every)) -ne 0 ] || printf '%s  downloaded %d modules%s' "$begin" "$downloaded" "$end" ;;
      *" "*) printf '%s%s\n' "$begin" "$line" ;;
      *)
        compiled=$((compiled + 1))
        [ $((compiled % every)) -ne 0 ] || printf '%s  %d of %d%s' "$begin" "$compiled" "$1" "$end" ;;
    esac
  done
  if [ -n "$begin" ] && [ $((compiled + downloaded)) -gt 0 ]; then echo; fi
}

compile() {
  go build "$@" "${flags[@]}" -o "$out/" "${programs[@]}"
  [ ${#plugins[@]} = 0 ] || go build "$@" "${flags[@]}" -o "$out/plugins/" "${plugins[@]}"
}

started=$SECONDS
# pipedeck plugin new gives the sources of the SDK away, as they are now.
(cd tools && GOWORK=off go run ./sdkarchive -root .. -output ../cmd/pipedeck/scaffold/archive/files/sdk.tar.gz)
list=$(mktemp)
trap 'rm -f "$list"' EXIT
go list -deps -f '{{if .Stale}}x{{end}}' "${programs[@]}" "${plugins[@]}" 2>&1 >"$list" | show 0
stale=$(grep -c x "$list" || true)
if [ "$stale" -gt 20 ]; then echo "compiling $stale packages (first time only)"; fi
# pipedeck compiles the embedded Kubernetes from the sources beside its own only while they are the same as now.
sources=$(go run ./devenv/cluster/embedded/sources/digest devenv/embeddedk8s)
flags=(-ldflags "-s -w"
  -ldflags "./cmd/pipedeck=-s -w -X github.com/pipedeck/pipedeck/devenv/cluster/embedded.builtFrom=$sources")
if [ "$stale" -gt 20 ]; then
  compile -v 2>&1 | show "$stale"
else
  compile
fi
# pipedeck version reads the commit from a file with the time of the program: were it in the program, each commit would
# have it linked again.
rm -f "$out/pipedeck.commit"
if commit=$(git log -1 --format='%H %cI' 2>/dev/null); then
  git diff --quiet HEAD 2>/dev/null || commit="$commit modified"
  echo "$commit" >"$out/pipedeck.commit"
  touch -r "$out/pipedeck" "$out/pipedeck.commit"
fi
# The library that images of the samples are built from, so that the first image takes a moment only.
[ -n "$first" ] || GOOS=linux go build -o /dev/null ./sample-apps/hello-world
if [ $((SECONDS - started)) -gt 5 ]; then echo "built in $((SECONDS - started)) s"; fi
