"""Einsums by hand with oneDNN's primitives, called by ctypes: a product is one matmul, on strides as they are where it
takes them and on copies where it does not, a sum over one operand is a reduction, a permutation a reorder. Of the forms
an einsum can be written in, all are tried and the fastest is kept. Of float32: the CPU's matmul has no float64."""

import ctypes
import functools
import itertools
import math
import os
import pathlib
import sys
import time

import numpy as np

# oneDNN 3: dnnl_common_types.h and dnnl_types.h.
CPU, IN_ORDER, F32, MUL, REDUCTION_SUM, MOST_DIMENSIONS = 1, 1, 3, 0x1fff1, 0x2fff4, 12
FIRST, SECOND, WEIGHTS, RESULT = 1, 2, 33, 17
TRIES = 5  # calls of each form, of which the fastest tells
# What PyPI's oneDNN loads lies beside it, where the loader does not look.
LOADED_FIRST = ("libintlc.so.5", "libimf.so", "libsvml.so", "libirng.so", "libtbb.so.12", "libumf.so.1",
                "libur_loader.so.0", "libsycl.so.9")


class Refused(Exception):
    """No primitive of oneDNN computes this."""


class _Argument(ctypes.Structure):
    _fields_ = [("number", ctypes.c_int), ("memory", ctypes.c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int), ("hash", ctypes.c_char_p),
                ("cpu_runtime", ctypes.c_uint), ("gpu_runtime", ctypes.c_uint)]


@functools.cache
def installed():
    """Today's release as PyPI has it, whose threads are SYCL's, and the newest there with OpenMP's, which calls sooner:
    the one in PaddlePaddle's wheel."""
    beside, other = pathlib.Path(sys.prefix, "lib"), pathlib.Path(np.__file__).parents[1] / "paddle" / "libs"
    found = []
    if (beside / "libdnnl.so.3").exists():
        os.environ["OCL_ICD_FILENAMES"] = str(beside / "libintelocl.so")  # its CPU is a device of OpenCL's
        for name in LOADED_FIRST:
            ctypes.CDLL(str(beside / name))
        found.append(OneDnn(beside / "libdnnl.so.3"))
    if (other / "libdnnl.so.3").exists():
        found.append(OneDnn(other / "libdnnl.so.3"))
    return found


class OneDnn:
    """The library at a path, its engine for the CPU, and a stream of it."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.library.dnnl_version.restype = ctypes.POINTER(_Version)
        version = self.library.dnnl_version().contents
        self.name = f"oneDNN {version.major}.{version.minor}"
        self.engine = self._made("dnnl_engine_create", ctypes.c_int(CPU), ctypes.c_size_t(0))
        self.stream = self._made("dnnl_stream_create", self.engine, ctypes.c_uint(IN_ORDER))
        self.execute = self.library.dnnl_primitive_execute
        self.wait = self.library.dnnl_stream_wait

    def _made(self, function, *arguments):
        made = ctypes.c_void_p()
        if getattr(self.library, function)(ctypes.byref(made), *arguments) != 0:
            raise Refused(function)
        return made

    def described(self, extents, strides):
        extents, strides = list(extents), list(strides)
        if len(extents) > MOST_DIMENSIONS or min(strides, default=1) < 0:
            raise Refused("dimensions, or a negative stride")  # the library takes the latter, and reads what is elsewhere
        sizes = ctypes.c_int64 * len(extents)
        return self._made("dnnl_memory_desc_create_with_strides", ctypes.c_int(len(extents)), sizes(*extents),
                          ctypes.c_int(F32), sizes(*strides))

    def primitive(self, kind, tensors):
        """`tensors`: (argument number, extents, strides in elements, array or None for the einsum's result) of each.
        A step: a function of the result's address, called with it."""
        described = [self.described(extents, strides) for _, extents, strides, _ in tensors]
        nothing = ctypes.c_void_p()
        if kind == "matmul":
            way = self._made("dnnl_matmul_primitive_desc_create", self.engine, *described[:2], nothing, described[2],
                             nothing)
        elif kind == "mul":
            way = self._made("dnnl_binary_primitive_desc_create", self.engine, ctypes.c_int(MUL), *described, nothing)
        elif kind == "sum":
            way = self._made("dnnl_reduction_primitive_desc_create", self.engine, ctypes.c_int(REDUCTION_SUM),
                             *described, ctypes.c_float(0), ctypes.c_float(0), nothing)
        else:
            way = self._made("dnnl_reorder_primitive_desc_create", described[0], self.engine, described[1], self.engine,
                             nothing)
        primitive = self._made("dnnl_primitive_create", way)
        arguments = (_Argument * len(tensors))()
        results = []
        for place, (number, _, _, array) in enumerate(tensors):
            address = ctypes.c_void_p(array.ctypes.data if array is not None else None)
            memory = self._made("dnnl_memory_create", described[place], self.engine, address)
            arguments[place] = _Argument(number, memory)
            if array is None:
                results.append(memory)
        count = ctypes.c_int(len(tensors))

        def step(address, _kept=tensors):  # the library holds addresses alone
            for memory in results:
                self.library.dnnl_memory_set_data_handle(memory, ctypes.c_void_p(address))
            if self.execute(primitive, self.stream, count, arguments) != 0:
                raise RuntimeError(f"oneDNN's {kind} failed")
            self.wait(self.stream)

        return step


class View:
    """Labels of an array, each with its extent and stride in elements; `array` None: the einsum's result."""

    def __init__(self, labels, extents, strides, array):
        self.array, self.extent, self.stride = array, dict(zip(labels, extents)), dict(zip(labels, strides))

    @staticmethod
    def of(labels, array):
        return View(labels, array.shape, [stride // array.itemsize for stride in array.strides], array)

    @staticmethod
    def dense(labels, extent):
        """A new array, labels outermost first."""
        return View.of(labels, np.empty([extent[label] for label in labels], "float32"))

    def as_argument(self, number, labels):
        return number, [self.extent[label] for label in labels], [self.stride[label] for label in labels], self.array

    def outermost_first(self, labels):
        return sorted(labels, key=lambda label: -abs(self.stride[label]))

    def dimension(self, group):
        """Extent and stride of labels that lie as one, outermost first; where the view lacks them, one element."""
        own = [label for label in group if label in self.extent]
        return (math.prod(self.extent[label] for label in own), self.stride[own[-1]]) if own else (1, 1)


def lie_as_one(group, views):
    return all(view.stride[outer] == view.stride[inner] * view.extent[inner]
               for view in views for outer, inner in itertools.pairwise(group))


def merged(labels, views):
    """Labels as few groups that lie as one in each view that has them (all of them have the same)."""
    groups = []
    for label in labels:
        if groups and lie_as_one([groups[-1][-1], label], views):
            groups[-1].append(label)
        else:
            groups.append([label])
    return groups


def largest_group(labels, views):
    """Those of the labels that lie as one in each view and have the most elements together."""
    ordered = views[0].outermost_first(labels)
    groups = [group for size in range(len(ordered) + 1) for group in itertools.combinations(ordered, size)
              if lie_as_one(group, views)]
    return list(max(groups, key=lambda group: math.prod(views[0].extent[label] for label in group)))


def copied(library, view, labels, way):
    """The view's elements in an array of their own, labels outermost first, and the step that brings them there; for no
    way itself, and no step."""
    if way is None:
        return view, []
    made = View.dense(labels, view.extent)
    if way == "reorder":
        return made, [into(library, view, made)]
    source = np.lib.stride_tricks.as_strided(view.array, made.array.shape, [4 * view.stride[label] for label in labels])
    return made, [lambda _: np.copyto(made.array, source)]


def as_copied(library, views, labels, ways):
    made = [copied(library, *one) for one in zip(views, labels, ways)]
    return [view for view, _ in made], [step for _, steps in made for step in steps]


def into(library, view, target):
    """The step that brings a view's elements into another of the same labels."""
    return library.primitive("reorder", [view.as_argument(FIRST, view.extent), target.as_argument(RESULT, view.extent)])


def matmul(library, left, right, out, copies, through):
    """Steps of one form of a product: which operands are copied and how, and whether the result is."""
    everything = {**left.extent, **right.extent}
    batch = [label for label in out.outermost_first(out.extent) if label in left.extent and label in right.extent]
    sums = [label for label in left.extent if label in right.extent and label not in out.extent]
    if set(everything) != {*out.extent, *sums}:
        raise Refused("a sum over one operand")
    rows = [label for label in out.extent if label not in right.extent]
    columns = [label for label in out.extent if label not in left.extent]
    sums = (right if copies[0] else left).outermost_first(sums)
    views, steps = as_copied(library, (left, right), ([*batch, *rows, *sums], [*batch, *sums, *columns]), copies)
    left, right = views
    result = View.dense([*batch, *rows, *columns], everything) if through else out
    if not lie_as_one(sums, views):
        raise Refused("sums that do not lie as one")
    row, column = largest_group(rows, [result, left]), largest_group(columns, [result, right])
    groups = [*merged(batch, [result, left, right]), *([label] for label in (*rows, *columns)
                                                       if label not in (*row, *column))]
    tensors = []
    for number, view, last in ((FIRST, left, [row, sums]), (WEIGHTS, right, [sums, column]),
                               (RESULT, result, [row, column])):
        extents, strides = zip(*(view.dimension(group) for group in (*groups, *last)))
        beyond = max(extent * stride for extent, stride in zip(extents, strides))
        # Of a dimension of 1 the library may read the distance of rows.
        strides = [stride if extent > 1 else beyond for extent, stride in zip(extents, strides)]
        tensors.append((number, extents, strides, view.array))
    steps.append(library.primitive("matmul", tensors))
    return [*steps, into(library, result, out)] if through else steps


def product_and_sum(library, left, right, out, copies):
    """Steps of elements multiplied, then summed: of operands with the same labels."""
    if set(left.extent) != set(right.extent):
        raise Refused("labels of one operand")
    labels = left.outermost_first(left.extent)
    (left, right), steps = as_copied(library, (left, right), (labels, labels), copies)
    products = View.dense(labels, left.extent)
    multiply = library.primitive("mul", [view.as_argument(number, labels) for number, view in
                                         ((FIRST, left), (SECOND, right), (RESULT, products))])
    return [*steps, multiply, *total(library, products, out)]


def total(library, view, out):
    """Steps of one operand's sum, or of its permutation."""
    if len(view.extent) == len(out.extent):
        return [into(library, view, out)]
    # Its result lies as its operand does.
    labels = view.outermost_first(view.extent)
    sums = View.dense([label for label in labels if label in out.extent], out.extent)
    beyond = sums.array.size
    return [library.primitive("sum", [
        view.as_argument(FIRST, labels),
        (RESULT, [sums.extent.get(label, 1) for label in labels],
         [sums.stride.get(label, beyond) for label in labels], sums.array)]), into(library, sums, out)]


def forms(library, views, out):
    ways = (None, "reorder", "numpy")
    if len(views) == 1:
        for way in ways:
            def after_a_copy(way=way):
                copy, steps = copied(library, views[0], views[0].extent, way)
                return [*steps, *total(library, copy, out)]
            yield after_a_copy
        return
    for copies in itertools.product(ways, ways):
        yield functools.partial(product_and_sum, library, *views, out, copies)
        for pair, through in itertools.product((views, views[::-1]), (False, True)):
            yield functools.partial(matmul, library, *pair, out, copies, through)


def seconds_of(steps, address, best=math.inf):
    """The least of some calls; the first one's where it took ten times the best."""
    taken = []
    for _ in range(TRIES):
        start = time.perf_counter()
        for step in steps:
            step(address)
        taken.append(time.perf_counter() - start)
        if taken[0] > 10 * best:
            break
    return min(taken)


def fastest(library, views, out, address):
    """The steps of the fastest form."""
    best, found = math.inf, None
    for form in forms(library, views, out):
        try:
            steps = form()
        except Refused:
            continue
        seconds = seconds_of(steps, address, best)
        if seconds < best:
            best, found = seconds, steps
    if found is None:
        raise Refused("no form")
    return found


def einsum(library, subscripts, operands):
    """A call that gives the result, allocated by each call; more than two operands from left to right. Raises
    Refused."""
    if any(operand.dtype != np.float32 for operand in operands):
        raise Refused("type")
    terms, result = subscripts.split("->")
    terms, left, steps = terms.split(","), list(operands), []
    while True:
        views = [View.of(term, array) for term, array in zip(terms[:2], left[:2])]
        later, extent = terms[2:], {label: size for view in views for label, size in view.extent.items()}
        piece = "".join(label for label in extent if label in "".join([result, *later])) if later else result
        out = View.dense(piece, extent)
        array = out.array
        if not later:
            out.array = None
        steps += fastest(library, views, out, array.ctypes.data)
        if not later:
            break
        terms, left = [piece, *later], [array, *left[2:]]

    def call():
        made = np.empty(array.shape, "float32")
        address = made.ctypes.data
        for step in steps:
            step(address)
        return made

    return call
