"""Threads, the interpreter's lock, fork, garbage collection, and the end of the interpreter."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np

import tile_tune
from tile_tune import einsum, tc


def test_calls_from_many_threads_also_the_first(random):
    shapes = [(3, 5, 7), (2, 2, 2), (4, 1, 6)]
    problems = [(random.standard_normal((m, k)), random.standard_normal((k, n))) for m, n, k in shapes]
    wrong = []

    def work(number):
        for i in range(60):
            a, b = problems[(number + i) % len(problems)]
            if not np.allclose(einsum("xy,yz->xz", a, b), a @ b):
                wrong.append((number, i))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_threads_run_while_a_kernel_does():
    a = np.ones((2500, 2500), np.float32)  # 30 GFLOP: tenths of a second
    out = np.empty_like(a)
    einsum("ij,jk->ik", a, a, out=out)
    began, order = threading.Event(), []

    def work():
        began.set()
        einsum("ij,jk->ik", a, a, out=out)
        order.append("the kernel")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # nobody is asked to let go of the lock: others run where it is given away
    try:
        thread = threading.Thread(target=work)
        thread.start()
        began.wait()
        order.append("others")
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert order == ["others", "the kernel"]


def test_a_table_that_is_cleared_during_calls(random):
    a = random.standard_normal((4, 4))
    stop = threading.Event()
    wrong = []

    def work():
        while not stop.is_set():
            if not np.allclose(einsum("ij,jk->ik", a, a), a @ a):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        with tile_tune.tuning("off"):
            pass
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_fork_after_use(random):
    a = random.standard_normal((64, 64))
    einsum("ij,jk->ik", a, a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX, where it was imported, and Python from 3.12 on warn of any fork
        child = os.fork()
    if child == 0:
        status = 1
        try:  # a shape that is known, and one that is not
            known = np.allclose(einsum("ij,jk->ik", a, a), a @ a)
            new = np.allclose(einsum("ij,jk->ik", a[:33, :], a), a[:33, :] @ a)
            status = 0 if known and new else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    np.testing.assert_allclose(einsum("ij,jk->ik", a, a), a @ a)


def test_fork_while_another_thread_compiles(tmp_path):
    done = run("""
    import os, sys, threading, time, warnings
    import numpy as np
    import tile_tune
    warnings.simplefilter("ignore", DeprecationWarning)
    os.environ["XDG_CACHE_HOME"] = sys.argv[1]  # nothing is there: the thread compiles
    a = np.ones((100, 100), np.float32)

    def work():
        for n in range(1, 6):
            tile_tune.einsum("ij,jk->ik", a[:n], a[:, :n + 40])

    thread = threading.Thread(target=work)
    thread.start()
    for number in range(4):
        time.sleep(0.1)
        child = os.fork()
        if child == 0:
            right = (tile_tune.einsum("ij,jk->ik", a[:20 + number, :31], a[:31]) == 31).all()
            os._exit(0 if right else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    thread.join()
    """, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_search_ends_with_the_process_that_asked_for_it(tmp_path):
    code = textwrap.dedent("""
        import sys, threading, time
        import numpy as np
        import tile_tune
        begun = threading.Event()
        a = np.ones((300, 300), np.float32)

        def search():
            tile_tune.tune("ij,jk->ik", a, a, seconds=300, database=sys.argv[1], progress=lambda now: begun.set())

        threading.Thread(target=search, daemon=True).start()
        begun.wait()
        print("begun", flush=True)
        if sys.argv[2] == "wait":
            time.sleep(300)
        """)
    for how in ("wait", "end"):
        database = str(tmp_path / f"{how}.db")
        process = subprocess.Popen([sys.executable, "-c", code, database, how], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "begun\n"
        if how == "wait":
            process.kill()
        process.wait()
        process.stdout.close()
        deadline = time.monotonic() + 60
        while subprocess.run(["pgrep", "-f", database], capture_output=True).stdout:
            assert time.monotonic() < deadline, "a search goes on"
            time.sleep(0.1)


def test_nothing_is_held_after_a_call():
    a, out = np.ones((3, 3)), np.empty((3, 3))
    counts = lambda: (sys.getrefcount(a), sys.getrefcount(out), sys.getrefcount(a.dtype))
    einsum("ij,jk->ik", a, a, out=out)
    einsum("ij,jk->ik", a, a)
    before = counts()
    for _ in range(100):
        einsum("ij,jk->ik", a, a, out=out)
        einsum("ij,jk->ik", a, a)
        try:
            einsum("ij,jk->ik", a, a[:2])
        except tile_tune.ArrayError:
            pass
    assert counts() == before


def test_functions_are_collected():
    import weakref
    function = tc.define("def twice(float(N) A) -> (o) { o(i) = A(i) * 2 }").twice
    assert function(np.ones(3, np.float32)).tolist() == [2, 2, 2]
    watch = weakref.ref(function)
    del function
    gc.collect()
    assert watch() is None


def run(code, folder):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(folder)], capture_output=True, text=True,
                          timeout=120)


SEARCH = """
    import gc, sys
    import numpy as np
    import tile_tune
    tile_tune.tuning("background", seconds=300, database=sys.argv[1] + "/tuning.db")
    a = np.ones((96, 96))
    assert (tile_tune.einsum("ij,jk->ik", a, a) == 96).all()
"""


def test_the_interpreter_ends_during_a_search(tmp_path):
    done = run(SEARCH + """
    print("end", flush=True)
    """, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_the_interpreter_ends_while_threads_compute(tmp_path):
    done = run("""
    import threading, time
    import numpy as np
    import tile_tune
    a = np.ones((400, 400), np.float32)
    tile_tune.einsum("ij,jk->ik", a, a)

    def work():
        while True:
            tile_tune.einsum("ij,jk->ik", a, a)

    for _ in range(4):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.3)
    print("end", flush=True)
    """, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_garbage_is_collected_during_a_search(tmp_path):
    done = run(SEARCH + """
    for size in range(20, 40):
        b = np.ones((size, size))
        assert (tile_tune.einsum("ij,jk->ik", b, b) == size).all()
        del b
        gc.collect()
    lib = tile_tune.tc.define("def f(float(N) A) -> (o) { o(i) = A(i) }")
    lib.f(np.ones(3, np.float32))
    del lib
    gc.collect()
    tile_tune.shutdown()
    assert (tile_tune.einsum("ij,jk->ik", a, a) == 96).all()
    """, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_fork_during_a_search(tmp_path):
    done = run(SEARCH + """
    import os, warnings
    warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on of any fork of a process with threads
    child = os.fork()
    if child == 0:
        assert (tile_tune.einsum("ij,jk->ik", a, a) == 96).all()
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    """, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
