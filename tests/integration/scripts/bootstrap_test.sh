#!/usr/bin/env bash
# scripts/bootstrap on a machine without the packages: other users are told the one line, root installs what is missing.
# dpkg-query, id and apt-get are stand-ins.
set -euo pipefail
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/bin" "$tree/scripts" "$tree/.venv"
cp "$1/bootstrap" "$1"/*requirements.txt "$tree/scripts/"
(cd "$tree" && for list in requirements test-requirements; do sha256sum "scripts/$list.txt" >".venv/$list.sha256"; done)
# g++ and make are installed, the others unknown: then dpkg-query fails.
printf '#!/bin/sh\necho "ii g++"; echo "ii make"; exit 1\n' >"$tree/bin/dpkg-query"
printf '#!/bin/sh\necho "$@" >>"%s/apt"\n' "$tree" >"$tree/bin/apt-get"
user() { printf '#!/bin/sh\necho %s\n' "$1" >"$tree/bin/id"; chmod +x "$tree"/bin/*; }
fail() { echo "failed: $1"; cat "$tree/err"; exit 1; }
export PATH="$tree/bin:$PATH"

user 1000
if "$tree/scripts/bootstrap" 2>"$tree/err"; then fail "a user without the packages goes on"; fi
[[ $(grep -c apt-get "$tree/err") == 1 ]] || fail "not one line to run"
grep -q "sudo apt-get update && sudo apt-get install .* libisl-dev" "$tree/err" || fail "the line lacks a package"
! grep -qE "install .* (g\+\+|make)( |$)" "$tree/err" || fail "the line has what is installed"
[[ ! -e $tree/apt ]] || fail "a user installs"

user 0
"$tree/scripts/bootstrap" 2>"$tree/err" || fail "root does not come through"
grep -q "^install .* libisl-dev" "$tree/apt" || fail "root does not install what is missing"
! grep -q "catch2\|qemu" "$tree/apt" || fail "what only tests need is installed for the tool"
"$tree/scripts/bootstrap" tests 2>"$tree/err" || fail "root does not come through for the tests"
grep -q "^install .* catch2 .* qemu-user" "$tree/apt" || fail "root does not install what the tests need"

printf '#!/bin/sh\nfor p in "$@"; do echo "ii $p"; done\n' >"$tree/bin/dpkg-query"
user 1000
"$tree/scripts/bootstrap" tests 2>"$tree/err" || fail "nothing is missing, but it stops"
[[ ! -s $tree/err ]] || fail "nothing is missing, but it speaks"
