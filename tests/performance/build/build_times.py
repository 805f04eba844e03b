#!/usr/bin/env python3
"""Times `tile-tune build`, one kernel and fifty in one library, from a database (to be under
2 s and under 60 s on two cores), and says how large they are. By hand:

    tests/performance/build/build_times.py build/cli/tile-tune FOLDER

FOLDER keeps the database: tuning the fifty, a trial each, takes some minutes the first time.
"""

import json
import pathlib
import subprocess
import sys
import time

FAMILIES = {
    "matmul": ("def f(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }",
               lambda n: {"M": 96 * n, "N": 64 * n + 1, "K": 128 * n}),
    "matvec": ("def f(float(R,C) A, float(C) x) -> (y) { y(i) +=! A(i,j) * x(j) }",
               lambda n: {"R": 512 * n, "C": 500 * n}),
    "conv": ("def f(float(B,C,H,W) I, float(O,C,KH,KW) K) -> (R) { R(b,o,y,x) +=! I(b,c,y+i,x+j) * K(o,c,i,j) }",
             lambda n: {"B": 2, "C": 16 * n, "H": 30, "W": 30 + n, "O": 32, "KH": 3, "KW": 3}),
    "layer": ("def f(float(B,I) x, float(I,O) W, float(O) b) -> (y) "
              "{ y(n,o) +=! x(n,i) * W(i,o) y(n,o) = fmax(y(n,o) + b(o), 0) }",
              lambda n: {"B": 64, "I": 100 * n, "O": 128}),
    "softmax": ("def f(float(B,N) x) -> (o, m, e, s) { m(b) max=! x(b,j) e(b,j) = exp(x(b,j) - m(b)) s(b) +=! e(b,j) "
                "o(b,j) = e(b,j) / s(b) }", lambda n: {"B": 64 * n, "N": 1000}),
}


def suite():
    workloads = [{"name": f"{family}_{n}", "tc": text, "sizes": sizes(n)}
                 for family, (text, sizes) in FAMILIES.items() for n in range(1, 11)]
    return {"kind": "suite", "format": 1, "name": "fifty", "workloads": workloads}


def timed(command):
    began = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    took = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(done.stderr)
    return took, done


def size(folder, name):
    return (folder / "lib" / f"lib{name}.a").stat().st_size / 1000


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    fifty, database = folder / "fifty.json", folder / "tuning.db"
    fifty.write_text(json.dumps(suite()), encoding="utf-8")
    if not database.exists():
        print(f"tune: {timed([tool, 'tune', fifty, '--trials', 1, '--db', database])[0]:.0f} s", flush=True)
    for name in [f"{family}_{n}" for family in FAMILIES for n in (1, 5, 10)]:
        took, _ = timed([tool, "build", f"{fifty}:{name}", "--db", database, "-o", folder / "one"])
        print(f"{name:<12} {took:5.2f} s  {size(folder / 'one', name):6.1f} KB", flush=True)
    took, done = timed([tool, "build", fifty, "--name", "fifty", "--db", database, "-o", folder / "all"])
    print(f"fifty        {took:5.2f} s  {size(folder / 'all', 'fifty'):6.1f} KB; "
          f"{done.stderr.count('tuned schedule')} of them tuned")
    print(f"runtime               {size(folder / 'all', 'tile_tune_rt'):6.1f} KB")


if __name__ == "__main__":
    main()
