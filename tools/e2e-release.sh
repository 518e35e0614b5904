#!/usr/bin/env bash
# Builds the release for linux/amd64 twice, from two clones at different places with empty build caches, and compares
# them; then installs it in an empty root with Git alone, deploys hello-world there, and refuses changed files.
# It needs root, for chroot, and takes long: everything is compiled twice. FAST=1 builds once, with the cache of the
# user, and compares nothing. Usage: e2e-release.sh
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "e2e-release needs root, for chroot" >&2; exit 1; }
version=0.0.1-test
work=$(mktemp -d)
inside() { chroot "$work/root" /usr/bin/env -i HOME=/home/ada PATH=/home/ada/.local/bin:/usr/bin:/bin TERM=dumb "$@"; }
cleanup() {
  if [ -e "$work/root/home/ada/.local/state" ]; then inside pipedeck down || true; fi
  if mountpoint -q "$work/root/proc"; then umount --lazy "$work/root/proc"; fi
  chmod -R u+w "$work"
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT
step() { echo "e2e-release: $1"; }
refuse() { echo "e2e-release: $1" >&2; exit 1; }

tool=$work/release
(cd tools/release && GOWORK=off go build -o "$tool" .)
"$tool" -new-key "$work/key"

# build CLONE OUTPUT: without FAST, with an empty cache.
build() {
  local cache=
  git clone -q . "$1"
  if [ -z "${FAST:-}" ]; then cache=$work/cache; mkdir -p "$cache"; fi
  GOCACHE=${cache:-$(go env GOCACHE)} "$tool" -root "$1" -version "$version" -targets linux/amd64 -key "$work/key" \
    -output "$2"
  if [ -n "$cache" ]; then chmod -R u+w "$cache"; rm -rf "$cache"; fi
}

step "building the release"
build "$work/one" "$work/dist"
if [ -z "${FAST:-}" ]; then
  step "building it again, elsewhere"
  build "$work/somewhere/else/two" "$work/again"
  diff -r "$work/dist" "$work/again" || refuse "the two releases differ"
  step "both are the same, byte by byte"
  rm -rf "$work/again"
fi
archive=pipedeck_${version}_linux_amd64.tar.gz
ls -l "$work/dist" | awk '{print $5, $9}'

step "an empty root with Git"
tools/emptyroot.sh "$work/root"
mkdir "$work/root/release"
cp "$work/dist"/* "$work/root/release/"
mount -t proc proc "$work/root/proc"
inside sh -c '! command -v go' || refuse "the root has Go"

step "changed files are refused"
cp -r "$work/root/release" "$work/root/changed"
printf x | dd of="$work/root/changed/$archive" bs=1 seek=1000000 conv=notrunc status=none
if inside sh /changed/install.sh --from /changed; then refuse "a changed archive was installed"; fi
(cd "$work/root/changed" && sha256sum "$archive" >SHA256SUMS)
if inside sh /changed/install.sh --from /changed; then refuse "a changed archive with its checksum was installed"; fi
[ ! -e "$work/root/home/ada/.local/bin/pipedeck" ] || refuse "something was installed"
rm -rf "$work/root/changed"

step "install, and deploy hello-world"
started=$(date +%s%N)
inside sh /release/install.sh --from /release
installed=$(date +%s%N)
inside pipedeck up --sample hello-world --cluster embedded --output plain </dev/null >"$work/up.log" 2>&1 &
up=$!
# Until both applications of the sample are deployed; up ends when it cannot start.
while [ "$(inside pipedeck deployments 2>/dev/null | grep -c SUCCESS)" -lt 2 ]; do
  kill -0 $up 2>/dev/null || { cat "$work/up.log"; refuse "the environment did not start"; }
  sleep 0.1
done
address=$(inside pipedeck open hello-world)
curl -fsS "$address" | grep 'Hello, world!' || refuse "hello-world does not answer at $address"
ended=$(date +%s%N)
echo "e2e-release: installed in $(((installed - started) / 1000000)) ms, deployed and answering" \
  "$(((ended - installed) / 1000000)) ms later"
inside pipedeck doctor --cluster embedded || refuse "doctor finds a reason not to start"
linked=$(inside sh -c 'ls -l /home/ada/.local/state/pipedeck/default/piped/plugins/wait-*' | awk '{print $2}')
[ "$linked" -gt 1 ] || refuse "the plugins are copied, not linked"

step "without Go, a changed program says what is missing"
inside sh -c 'cd /home/ada/.local/state/pipedeck/default/repository && sed -i "s/listening on/at your service on/" hello-world/main.go &&
  git -c user.name=ada -c user.email=ada@example.com commit -qam "Change the program"'
tries=0
while ! inside pipedeck logs hello-world 2>/dev/null | grep 'there is no go command'; do
  kill -0 $up 2>/dev/null || refuse "the environment has ended"
  tries=$((tries + 1))
  [ $tries -lt 300 ] || { inside pipedeck logs hello-world; refuse "the log of the stage does not say what is missing"; }
  sleep 0.2
done
curl -fsS "$address" | grep 'Hello, world!' || refuse "hello-world does not answer any more"
inside pipedeck down

step "a changed byte of an installed program is refused"
inside pipedeck version --verify
program=$work/root/home/ada/.local/lib/pipedeck/$version/bin/piped
chmod u+w "$program"
printf x | dd of="$program" bs=1 seek=1000000 conv=notrunc status=none
if inside pipedeck version --verify; then refuse "a changed program was not found"; fi
step ok
