#!/usr/bin/env bash
# scripts/gpu-check's archive, unpacked elsewhere: what it finds by OpenCL, and what it says where no CUDA driver is:
# gpu_check_test.sh SCRIPTS FAKE_CUDA_FOLDER
set -euo pipefail
fail() { echo "$*"; exit 1; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$1/gpu-check" "$place/gpu" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
(($(stat -c %s "$place/gpu.tar.xz") < 64 << 20)) || fail "$(cat "$place/log")"
mkdir "$place/elsewhere"
tar -C "$place/elsewhere" -xf "$place/gpu.tar.xz"
rm -rf "$place/gpu"
cd "$place/elsewhere/gpu"
run() { env -i PATH=/usr/bin:/bin HOME="$place" TMPDIR="$place" "$@"; }

if ! ldconfig -p | grep -q libcuda.so.1; then
  status=0
  run ./gpu-check 2>"$place/said" || status=$?
  [[ $status == 5 ]] || fail "without a driver: $status"
  grep -q 'no device 0 for host-cuda: libcuda.so.1' "$place/said" || fail "$(cat "$place/said")"
fi
# A driver that only the environment leads to, as on machines whose driver lies in a folder of its own.
run LD_LIBRARY_PATH="$2" bin/tile-tune worker --ask-device cuda 1 | grep -q '"name":"Pretended 1"' ||
  fail "a driver in LD_LIBRARY_PATH is not found"

ldconfig -p | grep -q libOpenCL.so.1 || { echo "skipped: there is no OpenCL here"; exit 0; }
run ./gpu-check --target host-opencl --python /bin/false --only 'tile_sum' correctness 2>>"$place/said" || fail "$(cat "$place/said")"
run ./gpu-check --target host-opencl --python /bin/false --only 'matmul_256' products 2>>"$place/said" || fail "$(cat "$place/said")"
python3 -B - "$1" <<'PY'
import json, sys
sys.path.insert(0, sys.argv[1])  # before this folder, whose package of that name has a part of it
from benchmark import gpu_document
data = json.load(open("results/results.json"))
outcomes = data["parts"]["correctness"]["tile_sum"]["outcomes"]
assert outcomes["ok"] >= 1 and not outcomes.get("wrong"), outcomes
workload = gpu_document.workload_in(data["parts"]["products"]["matmul_256"])
assert gpu_document.entry_of(workload, "default")["median_ns"] > 0, workload
text = gpu_document.render(data)
assert "1 programs right, 0 not" in text and "| matmul_256 | " in text, text
PY
