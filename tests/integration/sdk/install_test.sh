#!/usr/bin/env bash
# cmake --install in a tree in which only the command was built, as scripts/tile-tune leaves it: install_test.sh CMAKE BUILD
set -euo pipefail
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
rm -f "$2"/sdk/libtile_tune_edsl.so*
"$1" --install "$2" --prefix "$prefix" >"$prefix/log" 2>&1 || { cat "$prefix/log"; exit 1; }
[[ -e $prefix/lib/libtile_tune_edsl.so && -e $prefix/lib/libtile_tune_kernels.so && -x $prefix/bin/tile-tune ]] || { echo "not everything is installed"; exit 1; }
