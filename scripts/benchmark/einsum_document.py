"""docs/performance/einsums.md: einsums on views and networks beside numpy and PyTorch, from scripts/bench_einsum.py. Pure."""

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
    low, high = entries[who]["quartiles"]
    others = sorted((entry["us"], other) for other, entry in entries.items() if other != "tile-tune")
    shapes = ", ".join("x".join(map(str, shape)) or "scalar" for shape in row["shapes"])
    views = ", ".join(row.get("views", [])) or "plain"
    return (f"| `{row['subscripts']}` | {shapes} | {row.get('dtype', 'float32')} | {views} |"
            f" {in_words(entries['tile-tune']['us'])} | {', '.join(f'{other} {in_words(us)}' for us, other in others)} |"
            f" {ratio:.2f} [{low:.2f} {high:.2f}] |")


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
             "precision and timed in interleaved rounds in one process. Over the fastest: medians of rounds with their",
             "quartiles. A line that comes twice was measured a second time; the first counts.", "",
             "| what | count | bar | geometric mean | least | below 0.9 |", "| --- | ---: | --- | ---: | ---: | ---: |",
             "| einsums on views " + summary_of(einsums, "mean ≥ 1.2, each ≥ 0.9"),
             "| networks, along opt_einsum's path " + summary_of(networks, "mean ≥ 1.5"), "", *head,
             *map(line_of, einsums), "", "## Networks", "", *head, *map(line_of, networks), ""]
    return "\n".join(lines)
