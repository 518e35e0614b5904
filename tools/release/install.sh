#!/bin/sh
# Installs pipedeck << .Version >> for this user, without a package manager.
#   install.sh [--from DIRECTORY|URL] [--prefix DIRECTORY] [--require-signature]
# It needs tar, gzip, sha256sum or shasum, and curl or wget for a URL. It verifies before it installs, and installs nothing
# that is not as it was released. The files go to PREFIX/lib/pipedeck/VERSION, links to PREFIX/bin and PREFIX/share/man;
# PREFIX is ~/.local.
set -eu

version='<< .Version >>'
from='<< .URL >>'
key='<< .Key >>'
prefix=${HOME:?set HOME, or give --prefix}/.local
signed=

fail() {
  echo "install.sh: $1" >&2
  echo "next step: $2" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --from) from=${2:?--from needs a directory or a URL}; shift 2 ;;
    --prefix) prefix=${2:?--prefix needs a directory}; shift 2 ;;
    --require-signature) signed=required; shift ;;
    *) fail "$1 is unknown" "install.sh [--from DIRECTORY|URL] [--prefix DIRECTORY] [--require-signature]" ;;
  esac
done

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "there is no release for $(uname -s)" "build it from its sources" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no release for the processor $(uname -m)" "build it from its sources" ;;
esac
name=pipedeck_${version}_${os}_${arch}

mkdir -p "$prefix/lib/pipedeck" "$prefix/bin"
# Next to its destination, so that the last step is a rename.
work=$(mktemp -d "$prefix/lib/pipedeck/.install.XXXXXX")
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT

get() {
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then
        curl -fsSL -o "$work/$1" "$from/$1" || fail "cannot download $from/$1" "check the address, and try it again"
      elif command -v wget >/dev/null; then
        wget -q -O "$work/$1" "$from/$1" || fail "cannot download $from/$1" "check the address, and try it again"
      else
        fail "there is neither curl nor wget" "install one of them, or download the files and give --from DIRECTORY"
      fi ;;
    *) cp "$from/$1" "$work/$1" 2>/dev/null || fail "there is no $1 in $from" "give the directory of a release with --from" ;;
  esac
}

get SHA256SUMS
get SHA256SUMS.minisig
get "$name.tar.gz"
cd "$work"
if command -v minisign >/dev/null; then
  minisign -Vqm SHA256SUMS -P "$key" || fail "the checksums are not signed by the key $key" "do not use these files"
elif [ -n "$signed" ]; then
  fail "--require-signature needs minisign, which is not installed" "install minisign"
else
  echo "minisign is not installed: the checksums are not compared with a signature before the installation"
fi
grep " $name.tar.gz\$" SHA256SUMS >wanted || fail "the release has no $name.tar.gz" "choose another release"
if command -v sha256sum >/dev/null; then
  sha256sum -c wanted >/dev/null 2>&1 || fail "$name.tar.gz is not the released file" "download it again"
else
  shasum -a 256 -c wanted >/dev/null 2>&1 || fail "$name.tar.gz is not the released file" "download it again"
fi
tar -xzf "$name.tar.gz"
"$name/bin/pipedeck" version --verify --key "$key" || fail "$name.tar.gz does not hold what was released" "do not use it"

to=$prefix/lib/pipedeck/$version
if [ -e "$to" ]; then
  mv "$to" "$work/before"
fi
mv "$name" "$to"
for program in pipedeck piped; do
  ln -sf "../lib/pipedeck/$version/bin/$program" "$prefix/bin/$program"
done
mkdir -p "$prefix/share/man/man1"
for page in "$to"/share/man/man1/*.1; do
  ln -sf "../../../lib/pipedeck/$version/share/man/man1/${page##*/}" "$prefix/share/man/man1/${page##*/}"
done
echo "pipedeck $version is installed in $to"
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) echo "next step: add $prefix/bin to PATH" ;;
esac
