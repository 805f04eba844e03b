"""Environments of the Python libraries that are benchmarked: apart from the one tile-tune is built with."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ("numpy", "torch", "jax", "jaxlib")  # of scripts/bench-requirements.txt, as a table names their versions
CHILD_SECONDS = 900  # compiling with PyTorch takes up to a minute a workload on a busy machine


def python(directory, requirements, what):
    """The environment's interpreter; made, or made anew, when the requirements are not what it holds. `what`: its
    content, for people."""
    directory, requirements = pathlib.Path(directory), pathlib.Path(requirements)
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    stamp, interpreter = directory / "requirements.sha256", directory / "bin" / "python"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return str(interpreter)
    print(f"installing {what} into {directory}", file=sys.stderr)
    # The wheels are those of Debian 12's own interpreter.
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", str(directory)], check=True)
    subprocess.run([str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                    "--no-cache-dir", "--no-deps", "--only-binary", ":all:", "--require-hashes", "-r",
                    str(requirements)], check=True)
    stamp.write_text(wanted, encoding="utf-8")
    return str(interpreter)


def variables(directory):
    """What a contest's process finds in its environment: every library runs AVX-512 where the CPU has it.

    OpenBLAS (in numpy) and MKL (in PyTorch) pick AVX2 on AMD, half as fast; the first takes a variable, the second asks
    one function of its own whether the CPU is Intel's."""
    result = {**os.environ, "PYTHONHASHSEED": "0", "TORCHINDUCTOR_COMPILE_THREADS": "1",
              "TORCHINDUCTOR_CACHE_DIR": str(pathlib.Path(directory) / "inductor"), "JAX_PLATFORMS": "cpu"}
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_L2_SIZE"):
        result.pop(name, None)
    if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        result["OPENBLAS_CORETYPE"] = "SkylakeX"
        source, library = pathlib.Path(directory) / "intel.c", pathlib.Path(directory) / "intel.so"
        source.write_text("int mkl_serv_intel_cpu_true(void) { return 1; }\n", encoding="utf-8")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        result["LD_PRELOAD"] = str(library)
    return result


def ask(module, request, python, variables):
    """What the module, in a process of its own, answers; raises CalledProcessError, TimeoutExpired."""
    done = subprocess.run([python, "-m", f"benchmark.{module}"], input=json.dumps(request), capture_output=True,
                          text=True, cwd=SCRIPTS, env=variables, timeout=CHILD_SECONDS, check=False)
    if done.returncode != 0:
        raise subprocess.CalledProcessError(done.returncode, module, done.stdout, done.stderr)
    return json.loads(done.stdout)


def versions(interpreter, libraries):
    """Library -> version."""
    code = f"import importlib.metadata as m, json; print(json.dumps({{n: m.version(n) for n in {libraries!r}}}))"
    done = subprocess.run([interpreter, "-c", code], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"
