#!/usr/bin/env bash
# Makes a root file system with a shell, the usual small programs, tar, gzip and Git, and nothing else: what a user has
# who has installed Git. It takes them from this machine, and needs root. Usage: emptyroot.sh DIRECTORY
set -euo pipefail
root=$1
mkdir -p "$root"/{bin,dev,etc,home/ada,proc,tmp,usr/bin,usr/lib}
chmod 1777 "$root/tmp"
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
programs="sh env cat chmod cp cut dd grep gzip head id ln ls mkdir mktemp mv rm sed sha256sum sort tar tr uname wc git"
for name in $programs; do
  path=$(readlink -f "$(command -v "$name")")
  for file in "$path" $(ldd "$path" 2>/dev/null | grep -o '/[^ ]*' || true); do
    mkdir -p "$root$(dirname "$file")"
    cp -nL "$file" "$root$file"
  done
  [ -e "$root/usr/bin/$name" ] || ln -s "$path" "$root/usr/bin/$name"
  [ -e "$root/bin/$name" ] || ln -s "$path" "$root/bin/$name"
done
mkdir -p "$root$(git --exec-path)"
mknod -m 666 "$root/dev/null" c 1 3
mknod -m 666 "$root/dev/zero" c 1 5
mknod -m 666 "$root/dev/random" c 1 8
mknod -m 666 "$root/dev/urandom" c 1 9
