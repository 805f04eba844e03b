"""docs/performance/python.md: the package beside Python's libraries, from scripts/bench_package.py. Pure."""

import statistics

from benchmark import judge, markdown

# Over the fastest library.
ROWS = (judge.Row("einsums and texts, called from Python", None, "tuned_over_best", mean=1.4, least=0.9),)


def verdict(data):
    """The bars and what is below them, as text."""
    suite = list(data["workloads"].values())
    verdicts = judge.judge(suite, {one["name"]: [one] for one in suite}, ROWS, last_cache=0)
    below = markdown.shortfalls(verdicts)
    return markdown.verdict_table(verdicts) + ("" if below == "None.\n" else "\n" + below)


def row(workload):
    """One line of the table; medians of samples that are interleaved."""
    libraries = [entry for entry in workload["entries"] if entry["kind"] == "library"]
    timed = sorted((entry for entry in libraries if "interval_ns" in entry), key=lambda entry: entry["median_ns"])
    others = [f"{entry['name']} {entry['outcome']}" for entry in libraries if entry not in timed]
    tuned = judge.entry_of(workload, "tuned")
    disturbed = markdown.DISTURBED if judge.is_disturbed(workload) else ""
    return [workload["name"] + disturbed, f"{workload['search']['asked']:g} s, {workload['search']['trials']}",
            markdown.time_text(tuned["median_ns"]) if tuned else "-",
            ", ".join([f"{entry['name']} {markdown.time_text(entry['median_ns'])}" for entry in timed] + others),
            markdown.ratio_text(judge.ratio_in(workload, "tuned_over_best"))]


def render(data):
    workloads = list(data["workloads"].values())
    libraries = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    loads = sorted(one["load"] for one in workloads)
    load = f"{statistics.median(loads):.1f} (median; {loads[0]:.1f} to {loads[-1]:.1f})"
    titles = ["workload", "search, trials", "tile_tune", "libraries, fastest first", "over the fastest"]
    return f"""# The Python package beside Python's libraries

Written by `scripts/bench_package.py` ([benchmark.md](../benchmark.md)) on {data['date']}: {data['cpu']}, \
{data['threads']} threads, load {load}; {libraries}.
{len(workloads)} of the suite's {data['of']} einsums and texts. Each was tuned from Python for the seconds in its line; then everybody was verified in double precision and
timed in interleaved rounds in one process. Ratios are medians of rounds with their 95 % interval; samples that scatter
by more than 15 % are marked as disturbed.

{verdict(data)}
{markdown.table(titles, [row(one) for one in workloads], "lrrlr")}"""
