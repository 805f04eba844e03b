"""JAX's arrays, where there is JAX."""

import numpy as np
import pytest

import tile_tune
from tile_tune import einsum

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "complex64", "bool"])
def test_results_are_jax_arrays(dtype):
    x = jnp.asarray(np.arange(6).reshape(2, 3)).astype(dtype)
    result = einsum("ij->ji", x)
    assert isinstance(result, jax.Array) and result.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(result), np.asarray(x).T)


def test_products():
    a, b = np.random.default_rng(1).standard_normal((2, 5, 5)).astype(np.float32)
    np.testing.assert_allclose(np.asarray(einsum("ij,jk->ik", jnp.asarray(a), b)), a @ b, rtol=1e-5, atol=1e-5)


def test_they_are_never_written():
    x = jnp.ones(3)
    with pytest.raises(tile_tune.ArrayError, match="never written"):
        einsum("i->i", np.zeros(3, np.float32), out=x)
    assert x.tolist() == [1, 1, 1]


def test_what_was_donated_is_refused():
    x = jnp.ones(3)
    x.delete()
    with pytest.raises(tile_tune.ArrayError, match="operand 0 was deleted or donated"):
        einsum("i->i", x)


@pytest.mark.skipif(jax.config.jax_enable_x64, reason="JAX has 64 bits")
def test_results_that_jax_would_cut_are_refused():
    x = jnp.arange(3, dtype=jnp.int32)
    for wide in (np.full(3, 2 ** 40, np.int64), np.full(3, 1e300)):
        with pytest.raises(tile_tune.DTypeError, match="JAX has no (int|float)64"):
            einsum("i,i->i", x, wide)
        assert einsum("i,i->i", wide, x).tolist() == (wide * np.arange(3)).tolist()


def test_what_has_no_dlpack_is_refused():
    with pytest.raises(tile_tune.ArrayError, match="operand 0 shows no memory: .*S4"):
        einsum("i->i", jnp.ones(3, dtype=jnp.int4))


@pytest.mark.parametrize("transform", ["jit", "grad", "vmap"])
def test_tracers_are_refused(transform):
    with pytest.raises(tile_tune.ArrayError, match="JAX tracer") as caught:
        getattr(jax, transform)(lambda x: einsum("...->", x))(jnp.ones(3))
    assert caught.value.code == "traced"
