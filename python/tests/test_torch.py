"""PyTorch's tensors, where there is PyTorch."""

import numpy as np
import pytest

import tile_tune
from tile_tune import einsum, tc

torch = pytest.importorskip("torch")


def test_results_are_tensors():
    a, b = torch.randn(5, 7), torch.randn(7, 3)
    result = einsum("ij,jk->ik", a, b)
    assert type(result) is torch.Tensor and result.dtype == torch.float32
    torch.testing.assert_close(result, a @ b)
    assert type(einsum("ij,jk->ik", a.numpy(), b)) is np.ndarray


def test_strided_operands_and_out():
    a, b = torch.randn(7, 10).T[::2], torch.randn(3, 7).T
    out = torch.full((3, 10), -1.0).T[::2]
    assert einsum("ij,jk->ik", a, b, out=out) is out
    torch.testing.assert_close(out, a @ b)


@pytest.mark.parametrize("dtype", "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 "
                                  "complex128".split())
def test_element_types(dtype):
    x = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    result = einsum("ij->ji", x)
    assert result.dtype == x.dtype and torch.equal(result, x.T)


def test_functions_of_text():
    f = tc.define("def f(float(N) x) -> (twice, total) { twice(i) = 2*x(i)\n total() +=! x(i) }").f
    twice, total = f(torch.arange(4.0))
    assert twice.tolist() == [0, 2, 4, 6] and total.item() == 6 and type(total) is torch.Tensor


def test_what_is_refused():
    ones = torch.ones(2, 3)
    complexes = torch.ones(2, 3, dtype=torch.complex64)
    for tensor, code in [(torch.ones(2, 3, requires_grad=True), "needs-gradient"), (complexes.conj(), "bad-array"),
                         (complexes.conj().imag, "bad-array"), (torch.ones(2, 3, device="meta"), "bad-array"),
                         (ones.to_sparse(), "bad-array")]:
        with pytest.raises(tile_tune.ArrayError) as caught:
            einsum("ij->ji", tensor)
        assert caught.value.code == code
    with pytest.raises(tile_tune.ArrayError):
        einsum("ij->ij", ones, out=ones)


def test_what_is_traced_is_refused():
    from torch._subclasses.fake_tensor import FakeTensorMode
    with FakeTensorMode():
        fake = torch.empty(2, 3)
    with pytest.raises(tile_tune.ArrayError, match="has no elements yet") as caught:
        einsum("ij->ji", fake)
    assert caught.value.code == "traced"
    for transform in (torch.func.vmap, torch.func.grad):
        with pytest.raises(tile_tune.ArrayError, match=r"a tensor of torch\.func .* stands for others") as caught:
            transform(lambda x: einsum("...->", x))(torch.ones(3))
        assert caught.value.code == "traced"


@pytest.mark.filterwarnings("ignore")  # that torch.jit is old
def test_what_records_operations_would_take_results_for_constants():
    from torch.fx.experimental.proxy_tensor import make_fx
    x = torch.ones(2, 3)
    with pytest.raises(tile_tune.ArrayError, match="Proxy has no elements yet"):
        torch.fx.symbolic_trace(lambda x: einsum("ij->", x))
    for record in (lambda f: make_fx(f)(x), lambda f: torch.jit.trace(f, x)):
        with pytest.raises(tile_tune.ArrayError, match="records no kernels") as caught:
            record(lambda x: einsum("ij->ji", x) + 1)
        assert caught.value.code == "traced"
    assert einsum("ij->", x) == 6


@pytest.mark.filterwarnings("ignore")  # of torch.jit
def test_tangents_are_refused():
    from torch.autograd import forward_ad
    x = torch.ones(2, 3)
    with forward_ad.dual_level():
        with pytest.raises(tile_tune.ArrayError, match="has no derivatives") as caught:
            einsum("ij->", forward_ad.make_dual(x, x))
        assert caught.value.code == "needs-gradient" and einsum("ij->", x) == 6


def test_autograd_sees_what_is_written():
    x, w = torch.ones(3), torch.ones(3, requires_grad=True)
    total = (w * x).sum()
    einsum("i->i", torch.full((3,), 5.0), out=x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()
    with torch.inference_mode():
        y = torch.zeros(3)
        assert einsum("i->i", torch.ones(3), out=y) is y and y.sum() == 3


@pytest.mark.filterwarnings("ignore")  # of a graph that is broken there
def test_compiled_functions_call_it_between_their_parts():
    a, b = torch.randn(5, 7), torch.randn(7, 3)
    compiled = torch.compile(lambda a, b: einsum("ij,jk->ik", a, b) + 1, backend="eager")
    torch.testing.assert_close(compiled(a, b), a @ b + 1)


def test_gradients_that_nobody_wants():
    x = torch.ones(2, 3, requires_grad=True)
    with torch.no_grad():
        assert einsum("ij->", x) == 6
    assert einsum("ij->", x.detach()) == 6


def test_threads_of_torch():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tile_tune.tuning(threads="torch") as now:
            assert "threads=1," in repr(now)
            assert einsum("i->", torch.ones(5)) == 5
    finally:
        torch.set_num_threads(threads)


def test_memory_is_given_back():
    import gc
    import weakref
    x = torch.ones(3)
    watch = weakref.ref(x)
    result = einsum("i->i", x)
    del x
    gc.collect()
    assert watch() is None and result.tolist() == [1, 1, 1]
