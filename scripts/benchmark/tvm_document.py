"""The section of docs/performance.md on TVM MetaSchedule: both searches, and both kernels. Pure."""

from benchmark import markdown

# What is asked of each workload against TVM's MetaSchedule.
FASTER, SECONDS_SHARE = 1.0, 1 / 3


def entry_of(workload, name):
    return next((entry for entry in workload["entries"] if entry["name"] == name and "interval_ns" in entry), None)


def is_faster(workload):
    """Whether the whole interval says so."""
    return "tuned_over_tvm" in workload and workload["tuned_over_tvm"]["lo"] > FASTER


def seconds_share(workload):
    """Of TVM's search, what ours took."""
    return workload["searches"]["tile-tune"]["seconds"] / workload["searches"]["tvm"]["seconds"]


def verdict_table(workloads):
    def row(title, bar, met, worst):
        missed = [one["name"] for one in workloads if not met(one)]
        return [title, bar, worst, "yes" if not missed else "**no**: " + ", ".join(missed)]

    ratios = [one["tuned_over_tvm"] for one in workloads if "tuned_over_tvm" in one]
    least = min(ratios, key=lambda ratio: ratio["median"], default=None)
    rows = [row("faster kernels", "each > 1", is_faster, markdown.ratio_text(least and _triple(least))),
            row("seconds of the search, ours over TVM's", "each ≤ 1/3", lambda one: seconds_share(one) <= SECONDS_SHARE,
                f"{max(map(seconds_share, workloads)):.2f}")]
    return markdown.table(["what is judged", "bar", "worst", "met"], rows, "llrl")


def _triple(ratio):
    return ratio["median"], ratio["lo"], ratio["hi"]


def workload_row(workload):
    def rate(name):
        entry = entry_of(workload, name)
        return f"{entry['gflops']:.0f}" if entry else "-"

    ours, theirs = workload["searches"]["tile-tune"], workload["searches"]["tvm"]
    disturbed = any(entry.get("disturbed") for entry in workload["entries"])
    wrong = [f"{entry['name']}: {entry['reason']}" for entry in workload["entries"] if entry["outcome"] != "ok"]
    ratio = workload.get("tuned_over_tvm")
    return [workload["name"] + (markdown.DISTURBED if disturbed else ""), rate("tile-tune"), rate("tvm"),
            ", ".join(wrong) or markdown.ratio_text(ratio and _triple(ratio)), f"{ours['seconds']:.0f} s",
            f"{theirs['seconds']:.0f} s", f"{seconds_share(workload):.2f}"]


def workload_table(workloads):
    return markdown.table(["workload", "tile-tune GFLOP/s", "TVM GFLOP/s", "tile-tune over TVM", "our search",
                           "TVM's search", "ours over TVM's"], [workload_row(one) for one in workloads], "lrrrrrr")


def render(result):
    """`result`: what scripts/bench_tvm.py wrote."""
    workloads = result["workloads"]
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    return (f"## TVM MetaSchedule, {result['threads']} threads, {result['batch']} of its trials a round\n\n"
            f"`scripts/bench_tvm.py` ({versions}): {result['trials']} trials each, from empty databases; then the best "
            "kernels of both in one process, on the same tensors. Our seconds are those of the whole `tile-tune tune`, "
            "TVM's those of its `tune_tir` alone.\n\n"
            + verdict_table(workloads) + "\n" + workload_table(workloads))
