#!/usr/bin/env bash
# scripts/bundle's folder, moved to a place in which there is nothing else (an empty root where that is permitted, so
# that not even a C library is found) with nothing on PATH: bundle_test.sh SCRIPTS
set -euo pipefail
fail() { echo "$*"; exit 1; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$1/bundle" "$place/made" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
[[ $(ls "$place/made" | xargs) == "bin include lib licenses share" ]] || { ls "$place/made"; fail "something else is in it"; }
! "$1/bundle" "$place/made" 2>"$place/log" || fail "an existing folder is taken"
grep -q 'is there already' "$place/log" || fail "what is wrong is not said"
mkdir -p "$place/root/proc" "$place/root/sys" "$place/root/tmp"
mv "$place/made" "$place/root/moved"
cp "$1/../examples/matmul.tc" "$place/root/"

if unshare --mount true 2>/dev/null && mount_there='mount --rbind /proc "$0/proc"; mount --rbind /sys "$0/sys"' &&
  unshare --mount --propagation private sh -c "$mount_there" "$place/root" 2>/dev/null; then
  tile_tune() {
    unshare --mount --propagation private sh -c "set -e; $mount_there; "'exec env -i PATH= HOME=/ "$(command -v chroot)" "$0" /moved/bin/tile-tune "$@"' \
      "$place/root" "$@"
  }
  program=/matmul.tc
else
  echo "an empty root is not permitted here: with an empty PATH alone"
  tile_tune() { env -i PATH= HOME="$place/root" TMPDIR="$place/root/tmp" "$place/root/moved/bin/tile-tune" "$@"; }
  program=$place/root/matmul.tc
fi
sizes=(-s M=13 -s N=17 -s K=5)
tile_tune tune "$program" "${sizes[@]}" --trials 4 --seed 1 >"$place/tuned" 2>&1 || { cat "$place/tuned"; exit 1; }
grep -q 'stored  *.*tuning\.db' "$place/tuned" || { cat "$place/tuned"; fail "nothing was stored"; }
tile_tune db list | grep -q 'M=13' || fail "the record is not listed"

# What it computes: ones by twos, five of them.
python3 - "$place/root" <<'PY'
import struct, sys
def write(name, rows, columns, value):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
    header += ' ' * (63 - (10 + len(header)) % 64) + '\n'
    with open(f'{sys.argv[1]}/{name}.npy', 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode())
        file.write(struct.pack('<f', value) * (rows * columns))
write('A', 13, 5, 1.0)
write('B', 5, 17, 2.0)
PY
where=${program%/*}
tile_tune run "$program" --input "A=$where/A.npy" --input "B=$where/B.npy" --output-dir "$where/out" >"$place/ran" 2>&1 ||
  { cat "$place/ran"; exit 1; }
python3 - "$place/root/out/C.npy" <<'PY'
import struct, sys
data = open(sys.argv[1], 'rb').read()[-13 * 17 * 4:]
assert struct.unpack('<221f', data) == (10.0,) * 221
PY
# Packages are made by the machine's compiler: what is missing is said.
if tile_tune build "$program" "${sizes[@]}" --output "$where/package" 2>"$place/log"; then fail "built without a compiler"; fi
grep -q 'install gcc and binutils' "$place/log" || { cat "$place/log"; fail "what to install is not said"; }
