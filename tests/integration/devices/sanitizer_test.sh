#!/usr/bin/env bash
# Default schedules of the three documents' programs, and one drawn one each, under NVIDIA's compute-sanitizer:
# sanitizer_test.sh TOOL SUITE. Exit code 77, with the reason, where it or a device is missing.
set -euo pipefail
skip() { echo "skipped: $*"; exit 77; }
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
[[ -x $sanitizer ]] || skip "there is no compute-sanitizer here"
asked=$("$1" worker --ask-device cuda 0 2>&1) || true
[[ $asked == *'"name"'* && $asked != *'"error"'* ]] || skip "$asked"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# Memory that is not there, threads that race for shared memory, barriers that some threads do not reach. Not
# initcheck: outputs are filled before a kernel runs.
for check in memcheck racecheck synccheck; do
  "$sanitizer" --tool "$check" --target-processes all --error-exitcode 99 --log-file "$place/$check-%p.txt" \
    "$1" tune "$2" --target host-cuda --trials 2 --seed 1 --quiet --db "$place/$check.db" >"$place/said" 2>&1 ||
    { cat "$place/said"; exit 1; }
  # A worker's exit code is its parent's to read: what was found stands in the files.
  cat "$place/$check"-*.txt >"$place/all"
  if grep -q 'SUMMARY: [1-9]' "$place/all"; then cat "$place/all"; exit 1; fi
  grep -q 'SUMMARY: 0' "$place/all" || { echo "$check watched no process that ran kernels"; exit 1; }
done
