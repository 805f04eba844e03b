"""docs/performance.md as text, from what was measured. Pure."""

from benchmark import judge

STATES = {"met": "yes", "missed": "**no**", "incomplete": "not measured in full"}
DISTURBED = " (disturbed)"


def time_text(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def ratio_text(ratio):
    """A judge.Ratio or (median, lo, hi) as `1.23 [1.20 1.27]`; of one call, which has no interval, as `1.23`."""
    if ratio is None:
        return "-"
    median, lo, hi = (ratio.median, ratio.lo, ratio.hi) if isinstance(ratio, judge.Ratio) else ratio
    return f"{median:.2f}" if lo == hi else f"{median:.2f} [{lo:.2f} {hi:.2f}]"


def table(titles, rows, align=None):
    """A Markdown table; `align`: a letter l or r for each column."""
    align = align or "l" * len(titles)
    lines = ["| " + " | ".join(titles) + " |",
             "| " + " | ".join("---:" if letter == "r" else "---" for letter in align) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def bar_text(row):
    bars = [f"mean ≥ {row.mean:g}"] if row.mean else []
    return ", ".join(bars + ([f"each ≥ {row.least:g}"] if row.least else [])) or "-"


def verdict_row(verdict):
    row = verdict.row
    if not verdict.ratios:
        return [row.title, f"0 of {len(verdict.missing)}", bar_text(row), "-", "-", STATES["incomplete"]]
    least = verdict.least
    shortfall = f" ({len(verdict.below)} below)" if verdict.below else ""
    missing = f" of {len(verdict.ratios) + len(verdict.missing)}" if verdict.missing else ""
    return [row.title, f"{len(verdict.ratios)}{missing}", bar_text(row), f"{verdict.mean:.2f}",
            f"{ratio_text(least)} {least.name}{DISTURBED if least.disturbed else ''}",
            STATES[verdict.state] + shortfall]


def verdict_table(verdicts):
    return table(["what is judged", "workloads", "bar", "geometric mean", "least", "met"],
                 [verdict_row(verdict) for verdict in verdicts if verdict.ratios or verdict.missing], "lrlrll")


def shortfalls(verdicts):
    """Every workload below the bar of each, by row."""
    lines = []
    for verdict in verdicts:
        if verdict.below:
            names = ", ".join(f"{r.name} {r.median:.2f}{DISTURBED if r.disturbed else ''}" for r in verdict.below)
            lines.append(f"- {verdict.row.title} (each ≥ {verdict.row.least:g}): {names}")
    return "\n".join(lines) + "\n" if lines else "None.\n"


def workload_row(workload):
    """One line of the table of all workloads."""
    default, tuned = judge.entry_of(workload, "default"), judge.entry_of(workload, "tuned")
    own = tuned or default
    best = judge.entry_of(workload, workload.get("best_baseline"))

    def time_of(entry):
        return time_text(entry["median_ns"]) if entry else "-"

    return [workload["name"] + (DISTURBED if judge.is_disturbed(workload) else ""), time_of(default), time_of(tuned),
            f"{own['gflops']:.1f}" if own and workload["flops"] else "-",
            f"{own['gbytes']:.1f}" if own else "-",
            f"{100 * own['roof_share']:.0f} %" if own and own.get("roof_share") else "-",
            workload.get("best_baseline", "-"), time_of(best),
            ratio_text(judge.ratio_in(workload, "default_over_best")),
            ratio_text(judge.ratio_in(workload, "tuned_over_best")),
            ratio_text(judge.ratio_in(workload, "default_over_tuned"))]


def workload_table(workloads):
    titles = ["workload", "default", "tuned", "GFLOP/s", "GB/s", "of roof", "best baseline", "its time",
              "default over best", "tuned over best", "default over tuned"]
    return table(titles, [workload_row(workload) for workload in workloads], "lrrrrrlrrrr")


def autoscheduler_row(workload):
    def cell(name):
        for entry in workload["entries"]:
            if entry["name"] != name:
                continue
            if "median_ns" not in entry:
                return f"{entry['outcome']}: {short(entry['reason'])}"
            return time_text(entry["median_ns"]) + (" (one call)" if "interval_ns" not in entry else "")
        return "-"

    tuned = judge.entry_of(workload, "tuned")
    return [workload["name"] + (DISTURBED if judge.is_disturbed(workload) else ""),
            time_text(tuned["median_ns"]) if tuned else "-", cell("Mullapudi2016"), cell("Adams2019"),
            ratio_text(judge.ratio_in(workload, "tuned_over_autoscheduler"))]


def autoscheduler_table(workloads):
    return table(["workload", "tuned", "Mullapudi2016", "Adams2019", "tuned over the faster"],
                 [autoscheduler_row(workload) for workload in workloads], "lrrrr")


def python_row(workload):
    libraries = [entry for entry in workload["entries"] if entry.get("kind") == "library"]
    timed = sorted((entry for entry in libraries if "interval_ns" in entry), key=lambda entry: entry["median_ns"])
    tuned = judge.entry_of(workload, "tuned")
    failed = [f"{entry['name']} {entry['outcome']}" for entry in libraries if entry not in timed]
    return [workload["name"] + (DISTURBED if judge.is_disturbed(workload) else ""),
            time_text(tuned["median_ns"]) if tuned else "-",
            ", ".join(f"{entry['name']} {time_text(entry['median_ns'])}" for entry in timed) or "-",
            ratio_text(judge.ratio_in(workload, "tuned_over_best")),
            ratio_text(judge.ratio_in(workload, "tuned_over_torch")),
            ratio_text(judge.ratio_in(workload, "tuned_over_torch_compiled")), ", ".join(failed) or "-"]


def python_table(workloads):
    titles = ["workload", "tuned", "libraries, fastest first", "over the fastest", "over PyTorch",
              "over PyTorch compiled", "not timed"]
    return table(titles, [python_row(workload) for workload in workloads], "lrlrrrl")


def short(text, length=60):
    line = text.splitlines()[0] if text else ""
    line = line if len(line) <= length else line[:length - 1] + "…"
    return line.replace("|", "\\|")
