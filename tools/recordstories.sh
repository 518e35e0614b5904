#!/usr/bin/env bash
# Records the stories that pictures of the documentation show, on the embedded cluster. Names and paths on the pictures
# are the same wherever it runs.
set -euo pipefail
cd "$(dirname "$0")/.."
state=/tmp/pipedeck
if [ -e "$state" ]; then
  echo "$state exists already; it would be on the pictures. Move it away, and try again" >&2
  exit 1
fi
for story in dag; do
  file=docs/pictures/demo/$story.pipedeck
  rm -f "$file"
  bin/pipedeck demo "$story" --auto --fast --cluster embedded --state-dir "$state" --name demo --output plain --record "$file"
  chmod 644 "$file"
done
rmdir "$state" 2>/dev/null || true
