"""Draws workloads at random, family by family: shapes that nobody has tuned to. The same seed draws the same ones."""

import math
import random
import re
import string
import typing


class Limits(typing.NamedTuple):
    """Of one call."""
    fewest_flops: float
    most_flops: float
    most_bytes: float
    attempts: int  # until a draw lies within them
    prefix: str  # of names


# Below, a call's overhead is what is measured; above, a search gets few trials and a table takes days.
USUAL = Limits(2e4, 1.5e9, 256e6, 1000, "")  # most take less than ten
LARGE = Limits(1.5e9, 2e10, 1e9, 20000, "large-")  # calls of 10 to 200 ms on two cores

BYTES = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "i8": 1, "i32": 4, "c64": 8}
TC_TYPES = {"f64": "double", "f32": "float"}


def extent(rng, low, high):
    """Log-uniform; of three one is a power of two, one a multiple of a small one, one whatever comes (odd, prime)."""
    value = math.exp(rng.uniform(math.log(low), math.log(high + 0.999)))
    kind = rng.randrange(3)
    if kind == 0:
        value = 2 ** round(math.log2(value))
    elif kind == 1:
        value = max(1, round(value / 8)) * 8 if value >= 8 else value
    return int(min(max(value, low), high))


def volume(sizes, indices):
    return math.prod(sizes[one] for one in indices)


def einsum(subscripts, sizes, dtype="f32", flops=None, **fields):
    """A workload with its figures; `flops`: of the cheapest order, needed for three operands and more."""
    inputs, output = subscripts.split("->")
    operands = inputs.split(",")
    every = sorted(set(subscripts) - set(",->"))
    result = fields.get("result_dtype", dtype)
    if flops is None:
        flops = len(operands) * volume(sizes, every)
    moved = sum(volume(sizes, one) for one in operands) * BYTES[dtype] + volume(sizes, output) * BYTES[result]
    return {"einsum": subscripts, "sizes": {one: sizes[one] for one in every}, "dtype": dtype, "flops": flops,
            "bytes": moved, **fields}


def tc(text, sizes, flops, moved, dtype="f32", **fields):
    return {"tc": re.sub(r"\s+", " ", text).strip(), "sizes": sizes, "dtype": dtype, "flops": flops,
            "bytes": moved * BYTES[dtype], **fields}


def affine(*terms):
    """The sum of (factor, index), less the last: "2*x + kx - 1"."""
    *terms, less = terms
    words = [index if factor == 1 else f"{factor}*{index}" for factor, index in terms]
    return " + ".join(words) + (f" - {less}" if less else "")


def permuted(rng, indices):
    indices = list(indices)
    rng.shuffle(indices)
    return "".join(indices)


# ---- products


def product(rng):
    """All four storage orders, and the output's two; extents of any aspect."""
    sizes = {"m": extent(rng, 1, 4096), "n": extent(rng, 1, 4096), "k": extent(rng, 1, 8192)}
    orders = rng.choice(["mk,kn", "mk,nk", "km,kn", "km,nk"])
    return einsum(f"{orders}->{rng.choice(['mn', 'mn', 'nm'])}", sizes)


def skewed_product(rng):
    """One or two extents of a few elements."""
    sizes = {one: extent(rng, 16, 16384) for one in "mnk"}
    for one in rng.sample("mnk", rng.choice([1, 1, 2])):
        sizes[one] = extent(rng, 1, 9)
    return einsum(f"{permuted(rng, 'mk')},{permuted(rng, 'kn')}->mn", sizes)


def batched_product(rng):
    """The batch at any position of each operand."""
    sizes = {"b": extent(rng, 2, 512), **{one: extent(rng, 2, 384) for one in "mnk"}}
    return einsum(f"{permuted(rng, 'bmk')},{permuted(rng, 'bkn')}->{permuted(rng, 'bmn')}", sizes)


def matrix_vector(rng):
    sizes = {"m": extent(rng, 16, 16384), "k": extent(rng, 16, 16384)}
    return einsum(f"{permuted(rng, 'mk')},k->m", sizes)


def typed_product(rng):
    dtype = rng.choice(["f64", "bf16", "f16", "i8", "c64"])
    sizes = {one: extent(rng, 4, 1024) for one in "mnk"}
    fields = {"result_dtype": "i32"} if dtype == "i8" else {}
    drawn = einsum(f"{permuted(rng, 'mk')},{permuted(rng, 'kn')}->mn", sizes, dtype, **fields)
    if dtype == "c64":
        drawn["flops"] *= 4
    return drawn


def product_chain(rng):
    """Two products with bias and an activation between and after them."""
    sizes = {"B": extent(rng, 1, 512), **{one: extent(rng, 8, 1024) for one in "MNP"}}
    activation = rng.choice(["fmax(X, 0)", "tanh(X)", "1 / (1 + exp(-X))", "X * 0.5 * (1 + erf(X * 0.70710678))"])
    hidden, last = (activation.replace("X", one) for one in ("H1(b,n)", "O1(b,p)"))
    w1, w2 = rng.choice(["M,N", "N,M"]), rng.choice(["N,P", "P,N"])
    text = f"""def chain(float(B,M) I, float({w1}) W1, float(N) B1, float({w2}) W2, float(P) B2) -> (O) {{
        H(b,n) +=! I(b,m) * W1({w1.lower()}) H1(b,n) = H(b,n) + B1(n) H2(b,n) = {hidden}
        O0(b,p) +=! H2(b,n) * W2({w2.lower()}) O1(b,p) = O0(b,p) + B2(p) O(b,p) = {last} }}"""
    b, m, n, p = (sizes[one] for one in "BMNP")
    return tc(text, sizes, 2 * b * n * (m + p), b * m + m * n + n + n * p + p + b * p, weights=["W1", "B1", "W2", "B2"])


# ---- convolutions


def convolution(rng, kind):
    """1 to 3 dimensions, both channel orders, strides, dilations, with and without padding and bias with ReLU.

    kind: "dense", "grouped" or "depthwise".
    """
    rank = rng.choice([1, 2, 2, 2, 3])
    axes = "xyz"[:rank]
    last = rng.random() < 0.5  # channels last
    stride = rng.choice([1, 1, 1, 2, 2, 3])
    windows = [rng.choice([1, 2, 3, 3, 3, 5, 5, 7]) for _ in axes]
    if rng.random() < 0.6:
        windows = windows[:1] * rank
    dilation = rng.choice([1, 1, 1, 1, 2])
    is_padded = rng.random() < 0.6
    pads = [dilation * (window - 1) // 2 if is_padded else 0 for window in windows]
    inputs = [extent(rng, dilation * (window - 1) + stride, {1: 8192, 2: 224, 3: 40}[rank]) for window in windows]
    outputs = [(size + 2 * pad - dilation * (window - 1) - 1) // stride + 1
               for size, pad, window in zip(inputs, pads, windows)]
    n = extent(rng, 1, 16)
    g = 1 if kind == "dense" else extent(rng, 2, 32) if kind == "grouped" else extent(rng, 8, 512)
    c = extent(rng, 1, 512) if kind == "dense" else extent(rng, 1, 16) if kind == "grouped" else 1
    f = extent(rng, 1, 512) if kind == "dense" else extent(rng, 1, 16) if kind == "grouped" else 1
    sizes = {"N": n}
    channels, filters = [], []  # indices of the input's and the output's channels
    if kind != "dense":
        sizes["G"] = g
        channels.append("g")
        filters.append("g")
    if kind != "depthwise":
        sizes.update(C=c, F=f)
        channels.append("c")
        filters.append("f")
    sizes.update({axis.upper(): size for axis, size in zip(axes, inputs)})

    def named(spatial, between):
        return ",".join(["n", *spatial, *between] if last else ["n", *between, *spatial])

    at = [affine((stride, axis), (dilation, f"k{axis}"), pad) for axis, pad in zip(axes, pads)]
    read = f"I({named(at, channels)})"
    conditions = [f"{where} >= 0 && {where} < {axis.upper()}" for where, axis, pad in zip(at, axes, pads) if pad > 0]
    if conditions:
        read = f"({' && '.join(conditions)} ? {read} : 0)"
    taps = [f"k{axis}" for axis in axes]
    weight_indices = (["g"] if kind != "dense" else []) + (["f", "c"] if kind != "depthwise" else []) + taps
    weight_extents = [one.upper() if len(one) == 1 else str(windows[taps.index(one)]) for one in weight_indices]
    ranges = ", ".join([f"{axis} in 0:{size}" for axis, size in zip(axes, outputs)] +
                       [f"{tap} in 0:{window}" for tap, window in zip(taps, windows)])
    output = named(list(axes), filters)
    has_bias = rng.random() < 0.5
    bias = f", float({','.join(one.upper() for one in filters)}) B" if has_bias else ""
    epilogue = f"O({output}) = fmax(S({output}) + B({','.join(filters)}), 0)" if has_bias else ""
    text = f"""def conv(float({named([axis.upper() for axis in axes], [one.upper() for one in channels]).replace('n', 'N', 1)}) I,
        float({','.join(weight_extents)}) K{bias}) -> (O) {{
        {'S' if has_bias else 'O'}({output}) +=! {read} * K({','.join(weight_indices)}) where {ranges} {epilogue} }}"""
    results = n * g * f * math.prod(outputs)
    moved = n * g * c * math.prod(inputs) + g * f * c * math.prod(windows) + results
    return tc(text, sizes, 2 * results * c * math.prod(windows), moved, weights=["K", "B"] if has_bias else ["K"])


def dense_convolution(rng):
    return convolution(rng, "dense")


def grouped_convolution(rng):
    return convolution(rng, "grouped")


def depthwise_convolution(rng):
    return convolution(rng, "depthwise")


def pooling(rng):
    rank = rng.choice([1, 2, 2, 3])
    axes = "xyz"[:rank]
    window, stride = rng.choice([(2, 2), (3, 2), (3, 1), (5, 3)])
    sizes = {"N": extent(rng, 1, 16), "C": extent(rng, 1, 256)}
    sizes.update({axis.upper(): extent(rng, window, {1: 8192, 2: 256, 3: 48}[rank]) for axis in axes})
    outputs = [(sizes[axis.upper()] - window) // stride + 1 for axis in axes]
    last = rng.random() < 0.5

    def named(spatial, channel):
        return ",".join([channel[0], *spatial, channel[1]] if last else [*channel, *spatial])

    ranges = ", ".join(f"k{axis} in 0:{window}, {axis} in 0:{size}" for axis, size in zip(axes, outputs))
    text = f"""def pool(float({named([axis.upper() for axis in axes], 'NC')}) I) -> (O) {{ O({named(axes, 'nc')})
        {rng.choice(['max=!', '+=!'])} I({named([affine((stride, axis), (1, f'k{axis}'), 0) for axis in axes], 'nc')}) where {ranges} }}"""
    results = sizes["N"] * sizes["C"] * math.prod(outputs)
    return tc(text, sizes, results * window ** rank, math.prod(sizes.values()) + results)


# ---- contractions of more than matrices


def contraction(rng):
    """Two operands of rank 2 to 5, one to three summed indices, storage orders at random."""
    while True:
        left, right, summed, batch = (rng.choice(one) for one in ((1, 2, 3), (1, 2, 3), (1, 1, 2, 3), (0, 0, 0, 1)))
        if 2 + 2 <= left + right + 2 * summed + 2 * batch <= 10 and left + right + batch <= 6:
            break
    letters = string.ascii_lowercase
    parts, used = [], 0
    for count in (left, right, summed, batch):
        parts.append(letters[used:used + count])
        used += count
    i, j, k, b = parts
    sizes = {one: extent(rng, 2, 96) for one in letters[:used]}
    return einsum(f"{permuted(rng, i + k + b)},{permuted(rng, k + j + b)}->{permuted(rng, i + j + b)}", sizes)


def network(rng):
    """Three or four matrices or tensors in a chain, with an open index at each or not."""
    count = rng.choice([3, 3, 4])
    letters = iter(string.ascii_lowercase)
    bonds = [next(letters) for _ in range(count + 1)]
    opens = [next(letters) if rng.random() < 0.4 else "" for _ in range(count)]
    operands = [permuted(rng, bonds[one] + bonds[one + 1] + opens[one]) for one in range(count)]
    output = permuted(rng, bonds[0] + bonds[-1] + "".join(opens))
    sizes = {one: extent(rng, 2, 8 if one in opens else 256) for one in bonds + [one for one in opens if one]}
    return einsum(f"{','.join(operands)}->{output}", sizes, flops=cheapest_chain(sizes, bonds, opens))


def cheapest_chain(sizes, bonds, opens):
    """FLOP of a chain's best parenthesization, by dynamic programming."""
    count = len(opens)
    inner = [volume(sizes, one) for one in opens]
    cost = {(one, one + 1): 0 for one in range(count)}
    for length in range(2, count + 1):
        for low in range(count - length + 1):
            high = low + length
            around = sizes[bonds[low]] * sizes[bonds[high]] * math.prod(inner[low:high])
            cost[low, high] = min(cost[low, cut] + cost[cut, high] + 2 * around * sizes[bonds[cut]]
                                  for cut in range(low + 1, high))
    return cost[0, count]


def permutation(rng):
    rank = rng.choice([2, 3, 3, 4, 5, 6])
    letters = string.ascii_lowercase[:rank]
    output = permuted(rng, letters)
    if output == letters:
        output = letters[::-1]
    sizes = {one: extent(rng, 2, {2: 4096, 3: 256, 4: 96, 5: 32, 6: 16}[rank]) for one in letters}
    return einsum(f"{letters}->{output}", sizes, flops=volume(sizes, letters))


# ---- reductions


def reduction(rng):
    """A sum or a maximum over any axes."""
    rank = rng.choice([2, 3, 3, 4])
    letters = string.ascii_lowercase[:rank]
    kept = [one for one in letters if rng.random() < 0.5]
    if len(kept) == rank:
        kept.pop(rng.randrange(rank))
    sizes = {one: extent(rng, 2, {2: 16384, 3: 512, 4: 128}[rank]) for one in letters}
    every = volume(sizes, letters)
    text = f"""def reduce(float({','.join(letters.upper())}) I) -> (O) {{
        O({','.join(kept)}) {rng.choice(['+=!', '+=!', 'max=!'])} I({','.join(letters)}) }}"""
    if not kept:
        text = text.replace("O()", "O")
    return tc(text, {one.upper(): size for one, size in sizes.items()}, every, every + volume(sizes, kept))


def normalisation(rng):
    """Softmax, layer norm or RMS norm along any axis of three."""
    axis = rng.randrange(3)
    letters = ["a", "b", "c"]
    kept = ",".join(letters[:axis] + letters[axis + 1:])
    every = ",".join(letters)
    sizes = {one.upper(): extent(rng, 2, 1024 if number == axis else 256) for number, one in enumerate(letters)}
    count = sizes[letters[axis].upper()]
    body = rng.choice([
        f"""M({kept}) max=! I({every}) E({every}) = exp(I({every}) - M({kept})) S({kept}) +=! E({every})
            O({every}) = E({every}) / S({kept})""",
        f"""U({kept}) +=! I({every}) D({every}) = I({every}) - U({kept}) / {count}.0
            V({kept}) +=! D({every}) * D({every}) O({every}) = D({every}) * rsqrt(V({kept}) / {count}.0 + 1e-5)""",
        f"""V({kept}) +=! I({every}) * I({every}) O({every}) = I({every}) * rsqrt(V({kept}) / {count}.0 + 1e-5)"""])
    elements = math.prod(sizes.values())
    return tc(f"def norm(float(A,B,C) I) -> (O) {{ {body} }}", sizes, 4 * elements, 2 * elements)


def distance(rng):
    """What is no product to a library: distances of rows, tropical products."""
    sizes = {"M": extent(rng, 4, 512), "N": extent(rng, 4, 512), "K": extent(rng, 4, 512)}
    body = rng.choice(["O(m,n) +=! (A(m,k) - B(n,k)) * (A(m,k) - B(n,k))", "O(m,n) +=! fabs(A(m,k) - B(n,k))",
                       "O(m,n) max=! A(m,k) + B(n,k)", "O(m,n) min=! A(m,k) + B(n,k)",
                       "O(m,n) max=! fabs(A(m,k) - B(n,k))"])
    if rng.random() < 0.5:
        body = body.replace("B(n,k)", "B(k,n)")
    order = "K,N" if "B(k,n)" in body else "N,K"
    m, n, k = (sizes[one] for one in "MNK")
    return tc(f"def distance(float(M,K) A, float({order}) B) -> (O) {{ {body} }}", sizes,
              (3 if "fabs" in body or "*" in body else 2) * m * n * k, m * k + k * n + m * n)


# A library computes those of LIBRARY; of the others plain loops are what there is to compare with.
LIBRARY = {"product": product, "skewed-product": skewed_product, "batched-product": batched_product,
           "matrix-vector": matrix_vector, "typed-product": typed_product, "product-chain": product_chain,
           "dense-convolution": dense_convolution, "grouped-convolution": grouped_convolution,
           "depthwise-convolution": depthwise_convolution, "pooling": pooling, "contraction": contraction,
           "permutation": permutation, "reduction": reduction}
OTHERS = {"network": network, "normalisation": normalisation, "distance": distance}
FAMILIES = {**LIBRARY, **OTHERS}
# Those that come to that much work.
LARGE_FAMILIES = ["product", "batched-product", "dense-convolution", "grouped-convolution", "contraction"]


def draw(family, seed, number, limits=USUAL):
    """The workload of that number, the same in every run."""
    rng = random.Random(f"{family} {seed} {number}")
    for _ in range(limits.attempts):
        workload = FAMILIES[family](rng)
        if limits.fewest_flops <= workload["flops"] <= limits.most_flops and workload["bytes"] <= limits.most_bytes:
            return {"name": f"{limits.prefix}{family}_{seed}_{number}", "group": family, **workload}
    raise ValueError(f"no {family} within the limits in {limits.attempts} draws")


def suite(families, seed, count, limits=USUAL):
    """`count` workloads of each family, family after family in turns, so that a part of them is a fair one."""
    return {"kind": "suite", "format": 1, "name": f"drawn-{limits.prefix}{seed}",
            "workloads": [draw(family, seed, number, limits) for number in range(count) for family in families]}
