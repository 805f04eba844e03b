"""The package itself: what it offers, its stubs and documentation, its commands."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import tile_tune
from tile_tune import _core, edsl

PACKAGE = Path(tile_tune.__file__).parent


def names_of(stub):
    tree = ast.parse((PACKAGE / stub).read_text())
    names = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] != "typing":
            names |= {one.asname for one in node.names if one.asname}
    return names


def test_the_stub_of_the_module_names_what_is_there():
    there = {name for name in dir(_core) if not name.startswith("__")}
    assert names_of("_core.pyi") == there
    for node in ast.parse((PACKAGE / "_core.pyi").read_text()).body:
        if isinstance(node, ast.ClassDef):
            methods = {method.name for method in node.body if isinstance(method, ast.FunctionDef)}
            own = {name for name, value in vars(getattr(_core, node.name)).items() if name != "__hash__"
                   and name not in ("__doc__", "__module__", "__new__", "__bool__", "__repr__", "__array_ufunc__",
                                    "__iter__")}
            assert methods - {"__init__"} == own - {"__init__"}, node.name


def test_the_stub_of_the_package_names_what_is_there():
    assert names_of("__init__.pyi") == set(tile_tune.__all__) | {"__version__"}
    for name in tile_tune.__all__:
        assert getattr(tile_tune, name) is not None


@pytest.mark.parametrize("name", tile_tune.__all__)
def test_everything_is_documented(name):
    value = getattr(tile_tune, name)
    assert inspect.getdoc(value), name


def test_functions_have_signatures():
    assert str(inspect.signature(tile_tune.einsum)) == "(subscripts, /, *operands, out=None)"
    for name in edsl.__all__:
        assert inspect.getdoc(getattr(edsl, name)) is not None or name in ("Product", "Sum"), name


def test_an_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'einsums'"):
        tile_tune.einsums


def command(*arguments):
    return subprocess.run([sys.executable, "-m", "tile_tune", *arguments], capture_output=True, text=True)


def test_python_m_is_the_command():
    assert command("--version").stdout.startswith(f"tile-tune {tile_tune.__version__}")
    done = command("check", "einsum:ij->k")
    assert done.returncode == 2 and "[unknown-output-label]" in done.stderr


def test_importing_loads_no_compiler():
    code = "import tile_tune, sys; print(open('/proc/self/maps').read())"
    maps = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "_core.abi3.so" in maps
    for library in ("libHalide", "libxgboost", "libgomp", "libsqlite3"):
        assert library not in maps


def test_other_interpreters_are_refused():
    """Nor is what a program keeps to its end complained of."""
    inner = "try: import tile_tune\nexcept ImportError as error: print(error, flush=True)"
    code = f"""
import sys
import tile_tune
if sys.version_info < (3, 13):
    import _xxsubinterpreters as interpreters
    interpreters.run_string(interpreters.create(), {inner!r})
else:
    import _interpreters as interpreters
    interpreters.exec(interpreters.create(), {inner!r})
sys.kept = tile_tune.tc.define("def f(float(N) A) -> (o) {{ o(i) = A(i) }}")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "interpreter" in done.stdout


def test_one_module_fits_all_versions():
    """It asks for nothing that is not in CPython 3.10's stable ABI, but for the buffer protocol, which is there."""
    symbols = subprocess.run(["nm", "-D", "--undefined-only", _core.__file__], capture_output=True, text=True)
    wanted = {line.split()[-1] for line in symbols.stdout.splitlines() if "Py" in line.split()[-1][:3]}
    assert wanted and not {name for name in wanted if name.startswith("_Py") and name not in ALLOWED}


ALLOWED = {"_Py_Dealloc", "_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_NotImplementedStruct"}
