#!/usr/bin/env bash
# Unpacks Debian's Prometheus into a directory, without installing it, and prints where its programs are. It prints
# nothing where the package cannot be had. Usage: prometheus.sh DIRECTORY
set -euo pipefail
mkdir -p "$1"
cd "$1"
if [ ! -x usr/bin/prometheus ]; then
  command -v apt-get >/dev/null && command -v dpkg >/dev/null || exit 0
  apt-get download prometheus >&2 || exit 0
  dpkg -x prometheus_*.deb .
  rm -f prometheus_*.deb
fi
echo "$PWD/usr/bin"
