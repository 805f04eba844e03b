"""Multiplies two matrices with an emitted library and compares the result with numpy's: main.py PACKAGE"""

import ctypes
import sys

import numpy as np

import kernels

package = kernels.load(sys.argv[1], "matmul")

generator = np.random.default_rng(1)
A = generator.uniform(-1, 1, (37, 41)).astype(np.float32)
B = generator.uniform(-1, 1, (41, 43)).astype(np.float32)
C = package.matmul(A, B)
error = np.abs(C - A.astype(np.float64) @ B).max()
print(f"C: {C.shape[0]} x {C.shape[1]}, largest error {error:.1e}")

# A view with other strides is copied; another shape is refused before the kernel is called.
assert np.array_equal(package.matmul(np.asfortranarray(A), B), C)
try:
    package.matmul(B, A)
    sys.exit("a wrong shape was taken")
except ctypes.ArgumentError as refused:
    print(f"refused: {refused}".splitlines()[0][:60])

# |terms| <= 1 and float rounds to 2^-24: K additions stay within K * K * 2^-24, mostly far below.
sys.exit(0 if error <= 41 * 41 / 2**24 else 1)
