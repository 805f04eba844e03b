"""Searching, records and libraries from Python."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import tile_tune
from tile_tune import edsl, einsum, tc

MATMUL = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


@pytest.fixture
def database(tmp_path):
    with tile_tune.tuning(database=tmp_path / "tuning.db"):
        yield tmp_path / "tuning.db"


def matrices(m, k, n):
    random = np.random.default_rng(3)
    return random.standard_normal((m, k), np.float32), random.standard_normal((k, n), np.float32)


def test_a_search_is_found_by_all_who_compute_the_same(database):
    """einsum, text and eDSL, by the record alone: each handle says which schedule its kernel has."""
    a, b = matrices(24, 17, 40)
    said = []
    result = tile_tune.tune("ij,jk->ik", a, b, trials=3, seed=1, progress=lambda now: said.append(now))
    assert result.trials == 3 and result.seed == 1 and result.stopped_by is None and result.name == "einsum"
    assert result.database == str(database) and database.exists()
    assert result.default_ns > 0 and result.tuned_ns > 0 and result.interval[0] <= result.ratio <= result.interval[1]
    assert [now["trials"] for now in said] == sorted(now["trials"] for now in said) and said[-1]["trials"] == 3
    assert set(said[0]) == {"seconds", "trials", "best_ns", "best_ratio", "finals"}
    (record,) = tile_tune.records()
    assert record["dtypes"] == "f32,f32->f32" and record["layout"] == "row"
    assert record["median_ns"] == pytest.approx(result.tuned_ns) and record["ratio"] == pytest.approx(result.ratio)
    assert all(not isinstance(value, (dict, list)) for value in record.values())

    lib = tc.define(MATMUL)
    assert lib.matmul.schedule is None
    assert tc_hash(lib, a, b) == record["content_hash"]
    for compute in (lambda: einsum("ij,jk->ik", a, b), lambda: lib.matmul(a, b)):
        np.testing.assert_allclose(compute(), a @ b, rtol=1e-4, atol=1e-4)
    assert lib.matmul.schedule == "tuned"
    assert lib.matmul(a[:5], b).shape == (5, 40) and lib.matmul.schedule == "default"


def tc_hash(lib, a, b):
    return lib.matmul.program.bind({"M": a.shape[0], "K": a.shape[1], "N": b.shape[1]}).content_hash


def test_autotune_is_for_the_arrays_layouts(tmp_path):
    lib = tc.define(MATMUL, database=tmp_path / "own.db")
    a, b = matrices(16, 9, 8)
    strided = np.asfortranarray(b)
    assert lib.matmul(a, strided).shape == (16, 8) and lib.matmul.schedule == "default"
    lib.matmul.autotune(a, strided, trials=1, progress=False)
    assert [record["layout"] for record in tile_tune.records(database=tmp_path / "own.db")] == ["rcr"]
    np.testing.assert_allclose(lib.matmul(a, strided), a @ b, rtol=1e-4, atol=1e-4)
    assert lib.matmul.schedule == "tuned"
    assert lib.matmul(a, b).shape == (16, 8) and lib.matmul.schedule == "default"


def test_functions_of_the_edsl_are_tuned(database):
    @edsl.function
    def twice(I):
        return I + I

    x = np.ones(1000, np.float32)
    assert tile_tune.tune(twice, x, trials=1, progress=False).name == "twice"
    program = twice.program(("float32", (1000,)))
    assert tile_tune.records("twice")[0]["content_hash"] == program.content_hash
    assert tile_tune.tune(program, trials=1, progress=False).trials == 1


def test_there_are_no_records_where_nothing_was_tuned(database):
    assert tile_tune.records() == [] and not database.exists()


def test_what_is_wrong_with_the_machine(tmp_path, monkeypatch):
    a = np.ones((3, 3))
    (tmp_path / "text.db").write_text("this is no database")
    with pytest.raises(tile_tune.ToolError, match="is not a tuning database"):
        tile_tune.tune("ij,jk->ik", a, a, trials=1, database=tmp_path / "text.db", progress=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    with pytest.raises(tile_tune.Error) as caught:
        tile_tune.tune("ij,jk->ik", a, a, trials=1, database=tmp_path / "new.db", progress=False)
    assert isinstance(caught.value, tile_tune.ToolError), caught.value.code


def test_what_is_wrong(database):
    a, b = matrices(3, 4, 5)
    with pytest.raises(tile_tune.ArrayError, match="label 'j'"):
        tile_tune.tune("ij,jk->ik", a, a, trials=1)
    with pytest.raises(tile_tune.Error):
        tile_tune.tune(tc.define(MATMUL).matmul.program, trials=1)  # without sizes
    for budget in ({"seconds": -1}, {"seconds": float("nan")}, {"trials": 0}):
        with pytest.raises(ValueError, match="more than 0"):
            tile_tune.tune("ij,jk->ik", a, b, **budget)
    with pytest.raises(TypeError, match="tuned for arrays"):
        tile_tune.tune("ij,jk->ik", trials=1)
    with pytest.raises(TypeError, match="subscripts, a Program or a function"):
        tile_tune.tune(3, a)
    assert not database.exists()


def test_what_the_machine_lacks_is_a_tool_error(tmp_path, monkeypatch):
    a, b = matrices(3, 4, 5)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(tile_tune.ToolError) as caught:
        tile_tune.build("ij,jk->ik", a, b, output=tmp_path / "out")
    assert caught.value.code == "tool-missing"
    import resource
    tune = tile_tune.tune  # imported now, which takes a file
    open_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    for limit in range(3, 10):  # files at most, some of which are open: whatever is opened first fails
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, open_files[1]))
        try:
            with pytest.raises(tile_tune.ToolError) as caught:
                tune("ij,jk->ik", a, b, trials=1)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, open_files)
        assert caught.value.code in ("cannot-write", "cannot-start")


def test_names_of_files_that_are_not_utf8(tmp_path):
    a, b = matrices(3, 4, 5)
    database = os.fsdecode(os.fsencode(tmp_path) + b"/\x80.db")
    with tile_tune.tuning(database=database):
        tile_tune.tune("ij,jk->ik", a, b, trials=1, progress=False)
        einsum("ij,jk->ik", a, b)
        assert len(tile_tune.records()) == len(tile_tune.records("Float(3,4)")) == 1 and tile_tune.records("--help") == []
    with pytest.raises(ValueError, match="null"):
        tile_tune.tuning(database="x\0.db")
    for threads in (-1, 2 ** 40, True, "many"):
        with pytest.raises(ValueError, match="threads are"):
            tile_tune.tuning(threads=threads)
    with tile_tune.tuning(threads=np.int64(1)):
        assert einsum("ij->", a) == pytest.approx(a.sum(), rel=1e-4)


def test_a_progress_function_ends_the_search(database):
    a, b = matrices(20, 20, 20)
    result = tile_tune.tune("ij,jk->ik", a, b, trials=500, progress=lambda now: now["trials"] < 1)
    assert 1 <= result.trials < 500 and result.stopped_by == "progress"

    def broken(now):
        raise KeyError("from the caller")

    with pytest.raises(KeyError, match="from the caller"):
        tile_tune.tune("ij,jk->ik", a, b, trials=500, progress=broken)


def test_ctrl_c_keeps_the_best(tmp_path):
    code = """
        import signal, sys, numpy, tile_tune
        signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests ignore it, as jobs of shells do
        a = numpy.ones((48, 48), "f4")
        def progress(now):
            print("at", now["trials"], flush=True)
        result = tile_tune.tune("ij,jk->ik", a, a, seconds=300, database=sys.argv[1], progress=progress)
        print("kept", result.trials, result.stopped_by, flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "t.db")],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("at ")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    _, trials, stopped_by = output.splitlines()[-1].split(" ", 2)
    assert int(trials) >= 1 and stopped_by == "Ctrl-C"
    assert len(tile_tune.records(database=tmp_path / "t.db")) == 1


def test_the_first_call_searches_when_it_is_told_to(database):
    a, b = matrices(12, 13, 14)
    with tile_tune.tuning(1):
        np.testing.assert_allclose(einsum("ij,jk->ik", a, b), a @ b, rtol=1e-4, atol=1e-4)
    assert len(tile_tune.records()) == 1


def python(code, database, **more):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), str(database)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True, **more)


def test_the_first_call_of_every_shape_searches_when_it_is_told_to(database):
    lib = tc.define(MATMUL)
    with tile_tune.tuning(0.5):
        searching = tc.define(MATMUL).matmul
        for m in (3, 5):
            a, b = matrices(m, 7, 4)
            np.testing.assert_allclose(searching(a, b), a @ b, rtol=1e-4, atol=1e-4)
    assert {record["content_hash"] for record in tile_tune.records()} == {
        tc_hash(lib, *matrices(3, 7, 4)), tc_hash(lib, *matrices(5, 7, 4))}


def test_shapes_that_were_tuned_are_known_among_others(database):
    """Later shapes have a kernel for many sizes, but for those that the database has schedules of."""
    tuned = [matrices(24, 17, 40), matrices(11, 17, 40)]
    for a, b in tuned:
        tile_tune.tune("ij,jk->ik", a, b, trials=1, progress=False)
    function = tc.define(MATMUL).matmul
    for (a, b), schedule in [(matrices(5, 3, 2), "default"), (tuned[0], "tuned"), (matrices(6, 3, 2), "default"),
                             (tuned[1], "tuned"), (matrices(1, 1, 1), "default")]:
        np.testing.assert_allclose(function(a, b), a @ b, rtol=1e-4, atol=1e-4)
        assert function.schedule == schedule, a.shape


def test_later_shapes_are_searched_in_the_background(tmp_path):
    code = """
        import sys, numpy, tile_tune
        tile_tune.tuning("background", seconds=1, database=sys.argv[1])
        for m in (3, 5):
            a = numpy.ones((m, 9), "f4")
            assert (tile_tune.einsum("ij,kj->ik", a, a) == 9).all()
        input()
    """
    with python(code, tmp_path / "t.db") as process:
        assert wait_until(lambda: count_in(tmp_path / "t.db", "DISTINCT program) FROM session") == 2)
        process.communicate("\n", timeout=200)
        assert process.returncode == 0


def test_tuning_says_what_it_takes():
    for policy in ("sometimes", -1, float("nan"), True, None):
        with pytest.raises(ValueError):
            tile_tune.tuning(policy)
    for threads in (-1, "all", 1.5, True):
        with pytest.raises(ValueError):
            tile_tune.tuning(threads=threads)
    from tile_tune import _options
    before = _options.current()
    with tile_tune.tuning("background", seconds=5, threads=1):
        assert _options.current().background_seconds == 5 and _options.current().threads == 1
        with tile_tune.tuning(2):
            assert _options.current().tune_seconds == 2 and _options.current().background_seconds == 0
        assert _options.current().background_seconds == 5
    assert _options.current() == before


@pytest.mark.parametrize("text, threads", [("3", 3), ("2,1", 2), ("", 0), ("many", 0)])
def test_threads_of_openmp(monkeypatch, text, threads):
    from tile_tune import _options
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert _options.thread_count("omp") == threads


def test_a_library(database, tmp_path):
    a, b = matrices(6, 7, 8)
    files = tile_tune.build("ij,jk->ik", a, b, output=tmp_path / "out", name="product")
    assert {file.name for file in files} >= {"product.h", "libproduct.a", "libtile_tune_rt.a"}
    assert all(file.exists() for file in files)
    manifest = json.loads((tmp_path / "out" / "share" / "product" / "manifest.json").read_text())
    assert manifest
    import ctypes
    shared = tmp_path / "product.so"
    subprocess.run(["cc", "-shared", "-o", shared, "-Wl,--whole-archive", tmp_path / "out/lib/libproduct.a",
                    "-Wl,--no-whole-archive", tmp_path / "out/lib/libtile_tune_rt.a", "-lpthread", "-lm"], check=True)
    c = np.zeros((6, 8), np.float32)
    pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
    assert ctypes.CDLL(str(shared)).product(pointer(a), pointer(b), pointer(c)) == 0
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-5)


def test_plot():
    class Axes:
        def __init__(self):
            self.drawn = []

        def step(self, seconds, ratios, where):
            self.drawn = list(zip(seconds, ratios))

        def axhline(self, *_, **__):
            pass

        def set(self, **labels):
            self.labels = labels

    result = tile_tune.TuneResult("f", 2.0, 1.0, 2.0, (1.9, 2.1), 9, 30.0, 1, "x.db", None,
                                  [(1.0, 1, 1.0), (12.0, 5, 2.0)])
    axes = Axes()
    assert result.plot(axes) is axes and axes.labels["title"] == "f"
    assert axes.drawn == [(1.0, 1.0), (12.0, 2.0), (30.0, 2.0)]


def count_in(database, what):
    if not database.exists():
        return 0
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute(f"SELECT count({what}").fetchone()[0]
        except sqlite3.OperationalError:  # its tables are not there yet
            return 0


def trials_in(database):
    return count_in(database, "*) FROM trial")


def processes_with(variable, but):
    """That have it in their environment."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int(entry.name) != but and variable in (entry / "environ").read_bytes():
                yield int(entry.name)
        except OSError:
            pass


def wait_until(condition, tries=4000):
    for _ in range(tries):
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_ctrl_c_ends_a_first_call_that_searches(tmp_path):
    """At once: what was tried is kept, no process is left behind, and the call works the next time."""
    code = """
        import signal, sys, numpy, tile_tune
        signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests ignore it, as jobs of shells do
        a = numpy.ones((48, 48), "f4")
        tile_tune.tuning(300, database=sys.argv[1])
        try:
            tile_tune.einsum("ij,jk->ik", a, a)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        input()
        tile_tune.tuning("off")
        print((tile_tune.einsum("ij,jk->ik", a, a) == 48).all(), flush=True)
    """
    database, mark = tmp_path / "t.db", f"TILE_TUNE_TEST={tmp_path}"
    with python(code, database, env={**os.environ, "TILE_TUNE_TEST": str(tmp_path)}) as process:
        assert wait_until(lambda: trials_in(database) >= 3)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        tried = trials_in(database)
        assert tried >= 3
        assert wait_until(lambda: not list(processes_with(mark.encode(), process.pid)), tries=100)
        assert trials_in(database) == tried
        (record,) = tile_tune.records(database=database)
        assert record["dtypes"] == "f32,f32->f32"
        output, _ = process.communicate("\n", timeout=200)
        assert (process.returncode, output) == (0, "True\n")


def test_a_signal_while_another_thread_searches(tmp_path):
    """Who waits for the same kernel is interrupted; with the process ends the other thread's search."""
    code = """
        import os, signal, sys, threading, numpy, tile_tune
        a = numpy.ones((48, 48), "f4")
        tile_tune.tuning(300, database=sys.argv[1])
        threading.Thread(target=lambda: tile_tune.einsum("ij,jk->ik", a, a), daemon=True).start()
        input()
        def handler(*_):
            raise TimeoutError("too long")
        signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            tile_tune.einsum("ij,jk->ik", a, a)
        except TimeoutError as error:
            print(error, flush=True)
        os._exit(3)
    """
    database, mark = tmp_path / "t.db", f"TILE_TUNE_TEST={tmp_path}"
    with python(code, database, env={**os.environ, "TILE_TUNE_TEST": str(tmp_path)}) as process:
        assert wait_until(lambda: trials_in(database) >= 1)
        assert process.communicate("\n", timeout=200)[0] == "too long\n" and process.returncode == 3
    assert wait_until(lambda: not list(processes_with(mark.encode(), None)), tries=400)
