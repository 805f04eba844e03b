"""docs/performance/einsums.md: einsums on views and networks beside numpy, PyTorch and oneDNN, from
scripts/bench_einsum.py. Pure."""

import math


def best_of(row):
    """Who is the fastest of the others, and how many times faster ours is."""
    others = {who: entry["ratio"] for who, entry in row["entries"].items() if who != "tile-tune"}
    who = min(others, key=others.get)
    return who, others[who]


def in_words(microseconds):
    return f"{microseconds:.3g} µs" if microseconds < 1000 else f"{microseconds / 1000:.3g} ms"


def line_of(row):
    who, ratio = best_of(row)
    entries = row["entries"]
    low, high = entries[who]["interval"]
    disturbed = " ?" if any(entries[one]["disturbed"] for one in (who, "tile-tune")) else ""
    others = sorted((entry["us"], other) for other, entry in entries.items() if other != "tile-tune")
    shapes = ", ".join("x".join(map(str, shape)) or "scalar" for shape in row["shapes"])
    views = ", ".join(row.get("views", [])) or "plain"
    return (f"| `{row['subscripts']}` | {shapes} | {row.get('dtype', 'float32')} | {views} |"
            f" {in_words(entries['tile-tune']['us'])} | {', '.join(f'{other} {in_words(us)}' for us, other in others)} |"
            f" {ratio:.2f} [{low:.2f} {high:.2f}]{disturbed} |")


def summary_of(rows, bar):
    ratios = {row["name"]: best_of(row)[1] for row in reversed(rows)}  # the first measurement of each
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    return (f"| {len(ratios)} | {bar} | {mean:.2f} | {min(ratios.values()):.2f} |"
            f" {sum(ratio < 0.9 for ratio in ratios.values())} |")


def document(einsums, networks, about):
    """`einsums` and `networks`: rows in the order they were measured, some perhaps a second time."""
    head = ["| expression | shapes | type | operands | tile-tune | others, fastest first | over the fastest |",
            "| --- | --- | --- | --- | ---: | --- | ---: |"]
    lines = ["# Einsums on views, and networks", "",
             f"Written by `scripts/bench_einsum.py` ([benchmark.md](../benchmark.md)): {about}.",
             "Each was tuned from Python for 30 s, its result allocated by every call, everybody's verified in double",
             "precision and timed in interleaved rounds in one process, while the threads of the others sleep, after 10 ms",
             "of calls that wake one's own. Over the fastest: the median of the rounds' ratios with its 95 % interval; ? where",
             "samples scatter by more than 15 %. oneDNN 3.13 is PyPI's, with SYCL's threads; oneDNN 3.6, with OpenMP's, is",
             "the newest of that kind there. Both are called by hand: an einsum as a matmul, a reduction or a reorder, on",
             "strides as they are or on copies, whichever of up to 45 forms is the fastest (`scripts/benchmark/onednn.py`);",
             "float32 only. A line that comes twice was measured a second time; the first counts.", "",
             "| what | count | bar | geometric mean | least | below 0.9 |", "| --- | ---: | --- | ---: | ---: | ---: |",
             "| einsums on views " + summary_of(einsums, "mean ≥ 1.2, each ≥ 0.9"),
             "| networks, along opt_einsum's path " + summary_of(networks, "mean ≥ 1.5"), "", *head,
             *map(line_of, einsums), "", "## Networks", "", *head, *map(line_of, networks), ""]
    return "\n".join(lines)
