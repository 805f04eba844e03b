"""Which bars a benchmark is held to, and what a run of it says to each.

Pure: takes workloads as `tile-tune bench --json` writes them and gives Verdicts. A workload takes part in a row if the
run holds the ratio that the row is about; what is missing is named, never counted as met.
"""

import math
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Ratio:
    """Median of paired ratios over rounds, with its 95 % interval; `name` is the workload."""
    name: str
    median: float
    lo: float
    hi: float
    disturbed: bool = False


@dataclass(frozen=True)
class Row:
    """One row of the table of results: `key` is the ratio judged, `group` None for the whole suite."""
    title: str
    group: object
    key: str
    mean: float = 0.0  # bar of the geometric mean; 0: none
    least: float = 0.0  # bar of each; 0: none


@dataclass
class Verdict:
    row: Row
    ratios: list = field(default_factory=list)
    missing: list = field(default_factory=list)

    @property
    def mean(self):
        return geometric_mean([ratio.median for ratio in self.ratios])

    @property
    def least(self):
        return min(self.ratios, key=lambda ratio: ratio.median)

    @property
    def below(self):
        """Those that do not reach the bar of each, the worst first."""
        return sorted((r for r in self.ratios if r.median < self.row.least), key=lambda r: r.median)

    @property
    def state(self):
        """'met', 'missed', or 'incomplete' where nothing contradicts the bars but workloads are missing."""
        if not self.ratios:
            return "incomplete"
        if self.below or (self.row.mean and self.mean < self.row.mean):
            return "missed"
        return "incomplete" if self.missing else "met"


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else math.nan


LAST_CACHE_FACTOR = 4  # footprints from which memory bandwidth is what a kernel is held to

# With two threads. In-process baselines first, then those of scripts/bench_python.py.
ROWS = (
    Row("matrix products", "matrix-products", "tuned_over_best", least=0.95),
    Row("matrix products from 128×1024×1024 up, share of the FMA peak", "matrix-products", "peak_share", least=0.85),
    Row("matrix products, packed weights on both sides", "matrix-products", "tuned_packed_over_best_packed",
        least=0.97),
    Row("batched small products", "batched-products", "tuned_over_best", mean=1.1, least=1.0),
    Row("grouped, depthwise and TC convolutions", "grouped-convolutions", "tuned_over_best", mean=2.5, least=1.3),
    Row("the same against PyTorch", "grouped-convolutions", "tuned_over_torch", mean=2.0, least=1.2),
    Row("dense convolutions", "dense-convolutions", "tuned_over_best", least=0.95),
    Row("dense convolutions, packed weights on both sides", "dense-convolutions", "tuned_packed_over_best_packed",
        least=0.95),
    Row("reductions, pooling, look-up tables, csum", "reductions", "tuned_over_best", least=1.0),
    Row("the same from four last caches up, share of the bandwidth", "reductions", "bandwidth_share", least=0.85),
    Row("tensor contractions", "contractions", "tuned_over_best", mean=1.5, least=1.0),
    Row("fused chains", "fused-chains", "tuned_over_best", least=1.5),
    Row("the same against PyTorch compiled", "fused-chains", "tuned_over_torch_compiled", least=1.5),
    Row("f64, bf16, f16, i8", "dtypes", "tuned_over_best", least=0.9),
    Row("whole suite", None, "tuned_over_best", mean=1.3),
    Row("default schedules against tuned ones", None, "default_over_tuned", mean=0.6),
    Row("against Halide's automatic schedulers", None, "tuned_over_autoscheduler", mean=2.5, least=1.0),
)


def rows_of_another_way(has_tuned):
    """Of the suite with other threads or instructions: the best schedules that are known, or default ones."""
    key = "known_over_best" if has_tuned else "default_over_best"
    groups = tuple(replace(row, key=key, mean=0.0, least=0.0) for row in ROWS
                   if row.key == "tuned_over_best" and row.group)
    return groups + (Row("whole suite", None, key, mean=1.3, least=0.9),)


def entry_of(workload, name):
    """The entry of that name if it was timed, else None."""
    for entry in workload.get("entries", ()):
        if entry["name"] == name and entry["outcome"] == "ok" and "interval_ns" in entry:
            return entry
    return None


def is_disturbed(workload):
    """Whether anything that a ratio of ours stands on was: our schedules, the best baseline, or the whole run."""
    names = {"default", "tuned", "tuned-packed", workload.get("best_baseline"), workload.get("best_packed_baseline")}
    return not workload.get("alone", True) or any(
        entry.get("disturbed") for entry in workload.get("entries", ()) if entry["name"] in names)


def in_row(row, workload, last_cache):
    """Whether the row speaks of the workload at all."""
    if row.group is not None and workload["group"] != row.group:
        return False
    if row.key == "peak_share":
        return workload["flops"] >= 2 * 128 * 1024 * 1024
    if row.key == "bandwidth_share":
        return workload["bytes"] >= LAST_CACHE_FACTOR * last_cache
    if row.key == "tuned_packed_over_best_packed":
        return bool(workload["weights"])
    return True


def _share(workload, key):
    """A share beyond 1.05 is stored as 0, and its interval apart (in files of earlier versions as that of the share):
    of the arithmetic peak it says that the probe was disturbed. Streams are no peak, only what hand-written loops reach
    (decision 20): a kernel may be faster, and its lower end counts."""
    entry = entry_of(workload, "tuned") or {}
    lo, hi = entry.get("above_roof_interval") or entry.get("roof_share_interval") or (0, 0)
    if key == "bandwidth_share" and not entry.get("roof_share") and lo > 1:
        return lo, lo, hi
    return (entry["roof_share"], lo, hi) if entry.get("roof_share") else None


def _stored(workload, key):
    ratio = workload.get(key)
    return (ratio["median"], ratio["lo"], ratio["hi"]) if ratio else None


def ratio_in(workload, key):
    """(median, lo, hi) or None."""
    if key in ("peak_share", "bandwidth_share"):
        return _share(workload, key)
    if key == "default_over_tuned":
        gain = _stored(workload, "tuned_over_default")
        return (1 / gain[0], 1 / gain[2], 1 / gain[1]) if gain else None
    if key == "known_over_best":
        return _stored(workload, "tuned_over_best") or _stored(workload, "default_over_best")
    if key == "tuned_over_autoscheduler" and key not in workload:
        return _against_left_out(workload)
    return _stored(workload, key)


def has_no_automatic_schedule(workload):
    """Whether the automatic schedulers were asked, and none made a kernel that is right."""
    automatic = [entry for entry in workload.get("entries", ()) if entry.get("kind") == "autoscheduler"]
    return bool(automatic) and not any("median_ns" in entry for entry in automatic)


def _against_left_out(workload):
    """Automatic schedules too slow for the rounds have one time: a ratio without an interval of its own."""
    tuned = entry_of(workload, "tuned")
    times = [entry["median_ns"] for entry in workload.get("entries", ())
             if entry.get("kind") == "autoscheduler" and "median_ns" in entry]
    if tuned is None or not times:
        return None
    ratio = min(times) / tuned["median_ns"]
    return ratio, ratio, ratio


def worst_of_runs(runs, key):
    """A ratio of the run in which it is least: a bar is met when every fresh process meets it."""
    found = [(ratio_in(run, key), run) for run in runs]
    found = [(ratio, run) for ratio, run in found if ratio is not None]
    if not found:
        return None
    (median, lo, hi), run = min(found, key=lambda pair: pair[0][0])
    return Ratio(run["name"], median, lo, hi, is_disturbed(run))


def judge(suite, runs_by_name, rows, last_cache):
    """A Verdict for each row. `suite`: workloads with group, flops, bytes and weights; `runs_by_name`: workload's name
    -> its runs in fresh processes."""
    verdicts = []
    for row in rows:
        verdict = Verdict(row)
        for workload in suite:
            if not in_row(row, workload, last_cache):
                continue
            runs = runs_by_name.get(workload["name"], [])
            ratio = worst_of_runs(runs, row.key)
            if ratio is None and row.key == "tuned_over_autoscheduler" and any(map(has_no_automatic_schedule, runs)):
                continue
            if ratio is None:
                verdict.missing.append(workload["name"])
            else:
                verdict.ratios.append(ratio)
        verdicts.append(verdict)
    return verdicts
