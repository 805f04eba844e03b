"""The whole of docs/performance.md from stored measurements."""

import statistics

from benchmark import judge, markdown, search_document, tvm_document

OTHER_WAYS = {"threads-1": "One thread", "avx2": "AVX2, two threads"}


def by_group(runs_by_name):
    groups = {}
    for runs in runs_by_name.values():
        groups.setdefault(runs[0]["group"] or "others", []).append(runs[-1])
    return groups


def merged(data):
    """The runs of the two-thread pass with the ratios that other passes measured, each within a run of its own."""
    result = {}
    for name, runs in data["passes"].get("threads-2", {}).items():
        extra = {}
        for run in data["passes"].get("autoschedulers", {}).get(name, [])[-1:]:
            ratio = judge.ratio_in(run, "tuned_over_autoscheduler")
            if ratio:
                extra["tuned_over_autoscheduler"] = dict(zip(("median", "lo", "hi"), ratio))
            extra["automatic"] = [entry for entry in run["entries"] if entry.get("kind") == "autoscheduler"]
        for run in data["passes"].get("python", {}).get(name, [])[-1:]:
            extra.update({key: run[key] for key in ("tuned_over_torch", "tuned_over_torch_compiled") if key in run})
        automatic = extra.pop("automatic", [])
        result[name] = [{**run, **extra, "entries": run["entries"] + automatic} for run in runs]
    return result


def last_cache(data):
    return data["machine"]["target"]["l3_bytes"]


def effort(data):
    """How the tuned schedules were found, as one item of a list."""
    named = {workload["name"] for workload in data["suite"]}
    efforts = [one for name, one in data.get("efforts", {}).items() if name in named]
    if not efforts:
        return ""
    trials = sorted(one["trials"] for one in efforts)
    return (f"- Tuned schedules: the best of {trials[0]} to {trials[-1]} trials a workload (median "
            f"{statistics.median(trials):.0f}), found in up to {max(one['sessions'] for one in efforts)} searches with "
            f"{statistics.median(one['seconds'] for one in efforts):.0f} s together (median)\n")


def rounds(data):
    """How many rounds the workloads had, as words."""
    counts = [entry["rounds"] for runs_by_name in data["passes"].values() for runs in runs_by_name.values()
              for run in runs for entry in run["entries"] if entry.get("rounds", 0) > 1]
    return f"the rounds ({min(counts)} to {max(counts)})" if counts else "the rounds"


def head(data):
    machine = data["machine"]
    target = machine["target"]
    return f"""# Performance

Made by `scripts/performance` from one machine's run; `scripts/performance --from docs/performance/measurements.json` renders it
again without measuring. How it is measured, and who the baselines are: [benchmark.md](benchmark.md).

- Machine: {target['cpu_model'] or target['halide']}, {machine['cores']} cores, last cache {target['l3_bytes'] >> 20} MiB
- Target: `{target['halide']}`
- tile-tune {machine['version']}, measured {machine['date']}
{effort(data)}- Times are medians. Ratios are medians of paired ratios over {rounds(data)} of one interleaved run, with their 95 %
  intervals; above 1 tile-tune is faster. `(disturbed)` marks what a busy machine got into, and where a bar is judged in
  several fresh processes the worst of them counts. A ratio may differ from the quotient of two medians beside it, and
  times of different tables, taken at other hours, from each other. Differences below 10 % mean little on a shared machine.
"""


def group_tables(runs_by_name):
    return "\n".join(f"### {group}\n\n{markdown.workload_table(workloads)}"
                     for group, workloads in by_group(runs_by_name).items())


def generated_table(drawn):
    """What scripts/generality found of workloads drawn with one seed (generality.summary())."""
    titles = ["family", "workloads", "geometric mean", "worst decile", "least"]

    def of(found):
        worst = ", ".join(f"{name} {ratio:.2f}" for name, ratio in found["worst"])
        return markdown.table(titles, found["rows"], "lrrrr") + f"\nThe worst: {worst}.\n"

    searched = ""
    if tuned := drawn.get("tuned"):
        mean, least = tuned["default_over_tuned"]
        searched = ("\nAfter short searches, for the weakest of those that a library computes and some at random:\n\n"
                    f"{of(tuned)}\nDefault schedules over those: geometric mean {mean:.2f}, least {least:.2f}.\n")
    return (f"## Drawn workloads, seed {drawn['seed']}, {drawn['title']}\n\nDefault schedules over the best library, by "
            f"`scripts/generality` ({drawn['date']}); nobody had looked at them before.\n\n{of(drawn)}{searched}")


def latest(data, name):
    return [runs[-1] for runs in data["passes"].get(name, {}).values() if runs]


def render(data, plots, searches=None):
    """The document's text; `plots`: name -> file beside it; `searches`: what scripts/convergence wrote."""
    two = merged(data)
    others = {title: data["passes"][name] for name, title in OTHER_WAYS.items() if data["passes"].get(name)}
    parts = [head(data)]
    verdicts = judge.judge(data["suite"], two, judge.ROWS, last_cache(data))
    parts.append("## Two threads, by group\n\n" + markdown.verdict_table(verdicts))
    parts.append("Below the bar of each:\n\n" + markdown.shortfalls(verdicts))
    for title, runs in others.items():
        compared = [run for one in runs.values() for run in one if judge.ratio_in(run, "default_over_best")]
        plain = sum(not judge.ratio_in(run, "tuned_over_best") for run in compared)
        has_tuned = plain < len(compared)
        verdicts = judge.judge(data["suite"], runs, judge.rows_of_another_way(has_tuned), last_cache(data))
        which = "Tuned schedules" if has_tuned else "Default schedules"
        if has_tuned and plain:
            which += f"; default ones of the {plain} for which no search was made"
        parts.append(f"## {title}, by group\n\n{which}.\n\n" + markdown.verdict_table(verdicts))
        parts.append("Below the bar of each:\n\n" + markdown.shortfalls(verdicts))
    parts += [generated_table(one) for one in data.get("generated", [])]
    for name, title in (("roofline", "Roofline"), ("convergence", "Convergence of the search")):
        if name in plots:
            parts.append(f"## {title}\n\n![{title}]({plots[name]})\n")
    if searches:
        parts.append(search_document.render(searches))
    if two:
        parts.append("## All workloads, two threads\n\n" + group_tables(two))
    parts += [f"## All workloads, {title[0].lower() if title.startswith('One') else title[0]}{title[1:]}\n\n" +
              group_tables(runs) for title, runs in others.items()]
    if automatic := latest(data, "autoschedulers"):
        parts.append("## Halide's automatic schedulers, two threads\n\n" +
                     "Given the program's Funcs without a schedule, paddings as padded copies, their extents as "
                     "estimates, and the machine's threads and last cache; what failed says why.\n\n" +
                     markdown.autoscheduler_table(automatic))
    if python := latest(data, "python"):
        parts.append("## numpy, PyTorch and JAX, two threads\n\n`scripts/bench_python.py`: versions " +
                     ", ".join(f"{k} {v}" for k, v in data.get("python_versions", {}).items()) + ".\n\n" +
                     markdown.python_table(python))
    parts += [tvm_document.render(result) for result in data.get("tvm", [])]
    return "\n".join(parts)
