#!/usr/bin/env bash
# The wheels of scripts/wheel in a root that has Debian's Python, libc and libstdc++ and nothing else, with nothing on PATH:
# einsum, a search, the command. Needs to be root. wheel_test.sh WHEEL WHEEL [nanobind-backend's, else from
# PyPI]
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
root=$place/root
mkdir -p "$root"/{dev,proc,sys,tmp,package}
/usr/bin/python3 -m venv --without-pip "$place/venv" && /usr/bin/python3 -m venv "$place/pip"
"$place/pip/bin/pip" install --quiet --disable-pip-version-check --target "$root/package" ${3:+--no-index} "$@"

# Python with its modules, and whatever these load.
python=$(realpath /usr/bin/python3)
version=${python##*/}
libraries=$(ldd "$python" "/usr/lib/$version"/lib-dynload/*.so | awk '$3 ~ "^/" {print $3} $1 ~ "^/.*ld-" {print $1}' | sort -u)
for file in "$python" $libraries $(ldconfig -p | awk '/lib(stdc\+\+|gcc_s|rt|dl|pthread|m)\.so\./ && /x86-64/ {print $NF}'); do
  mkdir -p "$root$(dirname "$file")"
  cp -L "$file" "$root$file"
done
mkdir -p "$root/usr/lib" && cp -r "/usr/lib/$version" "$root/usr/lib/"
[[ ! -e $root/usr/bin/cc && ! -e $root/usr/bin/ld && ! -e $root/bin/sh ]]

in_root() {
  unshare --mount --propagation private sh -c 'set -e; for folder in dev proc sys; do mount --rbind "/$folder" "$0/$folder"; done
    exec env -i PATH= HOME=/tmp PYTHONPATH=/package "$(command -v chroot)" "$0" "$@"' "$root" "$python" "$@"
}
in_root -c '
import array, sys
import tile_tune

a = array.array("d", range(6))
b = memoryview(a).cast("B").cast("d", (2, 3))
assert tile_tune.einsum("ij,kj->ik", b, b).tolist() == [[5.0, 14.0], [14.0, 50.0]]
result = tile_tune.tune("ij,kj->ik", b, b, trials=2, progress=False)
assert result.trials == 2 and tile_tune.records()[0]["dtypes"] == "f64,f64->f64"
assert tile_tune.einsum("ij,kj->ik", b, b).tolist() == [[5.0, 14.0], [14.0, 50.0]]
try:
    tile_tune.build("ij,kj->ik", b, b, output="/tmp/out")
except tile_tune.Error as error:
    assert "install gcc and binutils" in str(error), error
else:
    sys.exit("built without a compiler")
'
in_root -m tile_tune --version | grep -q '^tile-tune '
echo "wheel_test: passed with $version, glibc $(ldd --version | sed -n '1s/.* //p')"
