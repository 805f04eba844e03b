#!/usr/bin/env bash
# The package of the build tree beside PyTorch and JAX: all its tests, none skipped for want of them, in the environment
# that scripts/bench-requirements.txt describes (.venv-bench, 6 GB, made where it is missing). Arguments go to pytest.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=$(PYTHONPATH=scripts python3 -c 'from benchmark import environment
print(environment.python(".venv-bench", "scripts/bench-requirements.txt", "numpy, PyTorch and JAX (6 GB)"))')
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
  -r scripts/test-requirements.txt
"$python" -c 'import jax, ml_dtypes, torch; print("with PyTorch", torch.__version__, "and JAX", jax.__version__)'
JAX_PLATFORMS=cpu PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=build/python XDG_CACHE_HOME=$PWD/build/cache \
  XDG_DATA_HOME=$PWD/build/python/data "$python" -m pytest -q -W error -p no:cacheprovider "${@:-python/tests}"
