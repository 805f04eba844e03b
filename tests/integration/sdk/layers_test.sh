#!/usr/bin/env bash
# The SDK's libraries hold nothing of the command line, nor of CLI11: layers_test.sh NM LIBRARY...
set -euo pipefail
nm=$1
shift
symbols=$(mktemp)
trap 'rm -f "$symbols"' EXIT
for library in "$@"; do
  "$nm" -C "$library" >"$symbols"
  grep -q 'tile_tune::ir::' "$symbols" || { echo "$library has no symbols to look at"; exit 1; }
  if grep -E '(^|[^A-Za-z_:])(CLI|tile_tune::cli)::' "$symbols" | head -5 | grep .; then
    echo "$library holds the command line"
    exit 1
  fi
  # What callers of kernels load: no compiler, no database, no second pool of threads.
  if [[ $library == *_kernels* ]] && objdump -p "$library" | awk '$1 == "NEEDED" {print $2}' |
    grep -vE '^(libtile_tune_edsl|libtile_tune_tensor|libisl|libfmt|libsodium|libstdc\+\+|libm|libgcc_s|libc|ld-linux-x86-64)\.so' | grep .; then
    echo "$library loads more than it should"
    exit 1
  fi
done
