"""The section of docs/performance.md on how quickly searches get where they get. Pure."""

import math
import statistics

from benchmark import markdown
from benchmark.searches import LIVE, WORKLOADS

# Decision 21.
SHORT_SHARE, MODEL_SHARE, SEARCH_SHARE = 0.92, 0.5, 0.05


def shares(workload):
    """Of each short search: its winner's speed over the long search's winner's."""
    return [short["ratio"] / workload["long"]["ratio"] for short in workload["short"]]


def trials_share(counts):
    """Trials the model needs over those of the genetic search; None where neither was counted, and where the default
    schedule, which is every search's first trial, is fast enough: there is nothing to halve."""
    if not counts:
        return None
    model, genetic = (_median_of(counts[strategy]) for strategy in ("model", "genetic"))
    return model / genetic if genetic > 1 else None


def _median_of(one):
    return one["median_trials_to_90"] if "median_trials_to_90" in one else one["median"]


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def verdicts(data):
    """[(what, workloads measured, workloads wanted, bar, measured or None, met)]."""
    workloads = data["workloads"].values()
    short = [share for workload in workloads for share in shares(workload)]
    replays = [share for share in (trials_share(workload.get("replay")) for workload in workloads) if share]
    lives = [share for share in (trials_share(workload.get("live")) for workload in workloads) if share]
    busy = [one["search_share"] for workload in workloads for one in [workload["long"], *workload["short"]]]

    def counted(names, is_whole):
        return sum(is_whole(data["workloads"].get(name, {})) for name in names)

    every, four = len(WORKLOADS), len(LIVE)
    rows = [(f"{data['short_trials']} trials against {data['long_trials']}",
             counted(WORKLOADS, lambda one: len(one.get("short", [])) >= data["seeds"]), every,
             f"mean ≥ {SHORT_SHARE:g}", geometric_mean(short), lambda v: v >= SHORT_SHARE),
            ("trials to 90 %, model over genetic, by replay", counted(WORKLOADS, lambda one: bool(one.get("replay"))),
             every, f"mean ≤ {MODEL_SHARE:g}", geometric_mean(replays), lambda v: v <= MODEL_SHARE),
            ("the same, live", counted(LIVE, lambda one: bool(one.get("live"))), four, f"mean ≤ {MODEL_SHARE:g}",
             geometric_mean(lives), lambda v: v <= MODEL_SHARE),
            ("searching itself, share of the wall clock", counted(WORKLOADS, lambda one: bool(one.get("long"))), every,
             f"each ≤ {SEARCH_SHARE:g}", max(busy, default=None), lambda v: v <= SEARCH_SHARE)]
    return [(*row, value, value is not None and met(value)) for *row, value, met in rows]


def verdict_table(data):
    rows = [[what, str(count) if count >= wanted else f"{count} of {wanted}", bar,
             "-" if value is None else f"{value:.2f}",
             "not measured in full" if count < wanted else "yes" if met else "**no**"]
            for what, count, wanted, bar, value, met in verdicts(data)]
    return markdown.table(["what is judged", "workloads", "bar", "measured", "met"], rows, "lrlrl")


def _counts(counts):
    if not counts:
        return "-"
    return " / ".join(f"{_median_of(counts[strategy]):g}" for strategy in ("model", "genetic"))


def workload_row(name, workload):
    long, short = workload["long"], workload["short"]
    disturbed = any(one["disturbed"] for one in [long, *short])
    quality = long.get("model") or {}
    return [name + (markdown.DISTURBED if disturbed else ""),
            markdown.ratio_text((long["ratio"], *long["ratio_interval"])),
            ", ".join(f"{share:.2f}" for share in shares(workload)) or "-",
            f"{long['seconds']:.0f} s", _median_seconds(short),
            _counts(workload.get("replay")), _counts(workload.get("live")),
            f"{quality['pairwise_accuracy']:.2f}" if quality else "-", f"{quality['top_recall']:.2f}" if quality else "-",
            f"{100 * max(one['search_share'] for one in [long, *short]):.1f} %"]


def _median_seconds(searches):
    return f"{statistics.median(one['seconds'] for one in searches):.0f} s" if searches else "-"


def render(data):
    titles = ["workload", "long search over default", "short over long", "long took", "short took",
              "replay: model / genetic", "live: model / genetic", "pairs ordered", "fastest foreseen", "searching"]
    rows = [workload_row(name, workload) for name, workload in data["workloads"].items()]
    return (f"## The search, {data['threads']} threads\n\n"
            f"Made by `scripts/convergence`: a search of {data['long_trials']} trials for each workload, "
            f"{data['seeds']} of {data['short_trials']} with other seeds, each from an empty database; trials to 90 % of "
            f"the best by replaying {data['replays']} searches of each strategy on the trials of the long one, and live. "
            "Where one trial is enough, the default schedule is there already, and the strategies are not compared. "
            "Speeds are ratios to the default schedule, each paired within its own finals.\n\n"
            + verdict_table(data) + "\n" + markdown.table(titles, rows, "l" + "r" * (len(titles) - 1)))
