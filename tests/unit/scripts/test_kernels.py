import ctypes
import pathlib
import subprocess
import tempfile
import unittest

from benchmark import kernels

SOURCE = """
static int threads = 0;
int timed_set_num_threads(int wanted) { threads = wanted; return wanted < 1; }
int timed(const int* in, int* out) { *out = 10 * *in + threads; return *in < 0 ? 7 : 0; }
"""


class Loading(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        source, self.library = pathlib.Path(directory.name) / "timed.c", pathlib.Path(directory.name) / "timed.so"
        source.write_text(SOURCE, encoding="utf-8")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(self.library), str(source)], check=True)
        self.input, self.output = (ctypes.c_int(value) for value in (4, 0))

    def load(self, threads):
        return kernels.load(self.library, [ctypes.addressof(one) for one in (self.input, self.output)], threads)

    def test_a_kernel_runs_with_the_threads_it_is_timed_with_whatever_core_its_caller_is_pinned_to(self):
        self.load(2)()
        self.assertEqual(self.output.value, 42)

    def test_threads_it_refuses_and_errors_it_returns_are_raised(self):
        with self.assertRaises(ValueError):
            self.load(0)
        call = self.load(1)
        self.input.value = -1
        with self.assertRaises(RuntimeError):
            call()


if __name__ == "__main__":
    unittest.main()
