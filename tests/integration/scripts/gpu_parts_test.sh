#!/usr/bin/env bash
# What gpu-check does on a machine with a device (scripts/benchmark/gpu_parts), with a tool that pretends to be
# tile-tune: gpu_parts_test.sh SCRIPTS
set -euo pipefail
fail() { echo "$*"; exit 1; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/bin" "$place/suites"
cp "$1/benchmark/gpu_parts" "$place/gpu-check"
cp "$1"/../configs/suites/{examples,public,gpu}.json "$place/suites/"
PYTHONPATH=$1 python3 -B -m benchmark.gpu_lists "$place"
cat >"$place/bin/tile-tune" <<'TOOL'
#!/usr/bin/env bash
echo "$*" >>"${0%/bin/*}/calls"
case $1 in
  --version) echo "tile-tune 1.2.3" ;;
  worker)
    if [[ $3 == opencl ]]; then echo '{"error":"libOpenCL.so.1: cannot open"}'; else echo '{"name":"Pretended","driver":"CUDA 13.0"}'; fi ;;
  tune)
    [[ $2 != *wrong* ]] || { echo 'tile-tune: error: "no"\such thing' >&2; exit 1; }
    [[ $2 != *softmax* ]] || exec sleep 100
    echo '{"outcomes":{"ok":6},"trials":6}' ;;
  bench) echo '{"workloads":[{"name":"'"${2##*:}"'","group":"reductions","entries":[]}]}' ;;
esac
TOOL
chmod +x "$place/bin/tile-tune"
check() { "$place/gpu-check" --python /bin/false "$@" 2>"$place/said" || fail "$(cat "$place/said")"; }
count() { grep -c -- "$1" "$place/calls" || true; }

# No device is one sentence, and 5.
status=0
"$place/gpu-check" --target host-opencl 2>"$place/said" || status=$?
[[ $status == 5 && $(cat "$place/said") == "gpu-check: there is no device 0 for host-opencl: libOpenCL.so.1: cannot open" ]] ||
  fail "without a device: $status $(cat "$place/said")"
"$place/gpu-check" nonsense 2>"$place/said" && fail "an unknown part is taken"
grep -q '^usage: gpu-check' "$place/said" || fail "the usage is not shown"

# Each finding once, and again only what failed, when asked.
check correctness
[[ $(count '^tune .*examples.json:tile_sum --target host-cuda --device 0') == 1 ]] || fail "$(cat "$place/calls")"
check correctness
[[ $(count '^tune ') == 31 ]] || fail "$(count '^tune ') calls, not 31"
check --again correctness
[[ $(count '^tune ') == 33 ]] || fail "$(count '^tune ') calls after --again, not 33"
grep -q 'all parts are done' "$place/said" || fail "$(cat "$place/said")"

# What fits a pattern, on another device, elsewhere.
check --device 3 --results "$place/elsewhere" --only 'matmul_10*' products
[[ $(count '--device 3') == 2 ]] || fail "$(cat "$place/calls")"

# A search that does not end is over at the end of the call, and is begun again by the next.
export GPU_CHECK_SEARCH_SECONDS=1
check --limit 25 --only softmax_4096x1024 search
grep -q 'the time is up in part search' "$place/said" || fail "$(cat "$place/said")"
[[ ! -e $place/results/search/softmax_4096x1024.failed ]] || fail "a search that was cut short counts as failed"
check --limit 3 --only softmax_4096x1024 search
[[ $(count '^tune .*softmax') == 1 ]] || fail "a search is begun for which there is no time"
check --only matmul_2048 search
[[ $(count '^bench .*gpu.json:matmul_2048 .*tuned.db') == 1 ]] || fail "what was found is not measured"

# PyTorch is asked for all that is missing at once, and no more than that.
cat >"$place/python" <<'PYTHON'
#!/usr/bin/env bash
[[ $1 == -m ]] || exit 0
echo "$2 ${*:3}" >>"${0%/*}/asked"
while read -r _ name; do
  echo "$name" >>"${0%/*}/asked"
  if [[ $name == matmul_256 ]]; then echo "it ended" >"$4/$name.part"; kill -9 $$; fi
  echo '{"outcome":"ok","median_ns":1000}' >"$4/$name.json"
done
PYTHON
chmod +x "$place/python"
check --python "$place/python" --only 'matmul_51*' libraries
check --python "$place/python" --only 'matmul_[25]*' libraries
grep -q 'all parts are done' "$place/said" || fail "what ends PyTorch ends the part: $(cat "$place/said")"
check --python "$place/python" --only 'matmul_[25]*' libraries
[[ $(sed 's/ [0-9]*$//' "$place/asked") == "benchmark.torch_on_device $place/suites $place/results/libraries 0
matmul_512
benchmark.torch_on_device $place/suites $place/results/libraries 0
matmul_2048
matmul_256" ]] || fail "$(cat "$place/asked")"

python3 - "$place" "$1" <<'PY'
import json, sys
place, scripts = sys.argv[1:]
sys.path.insert(0, scripts)
sys.dont_write_bytecode = True
from benchmark import gpu_document
data = json.load(open(f"{place}/results/results.json"))
assert gpu_document.is_of_gpu(data)
assert data["device"]["name"] == "Pretended" and data["version"] == "1.2.3" and data["search_seconds"] == 1
parts = data["parts"]
assert len(parts["correctness"]) == 31
failed = [one["failed"] for one in parts["correctness"].values() if "failed" in one]
assert failed == ["tile-tune: error:  no  such thing "] * 2, failed
assert parts["search"]["matmul_2048"]["trials"] == 6 and "matmul_2048" in parts["tuned"]
assert parts["libraries"]["matmul_256"] == {"failed": "it ended "}, parts["libraries"]
assert parts["products"] == {} and parts["libraries"]["matmul_512"]["median_ns"] == 1000
assert "29 of" not in gpu_document.render(data)
PY
