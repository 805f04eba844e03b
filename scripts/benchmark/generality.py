"""The table of drawn workloads: by family, and the worst by name."""

from benchmark import judge

WORST = 10


def own_over_best(run, passed):
    """The median ratio of our kernel over the best library or, where none computes it, over plain loops; None: neither."""
    ratio = run.get(f"{passed}_over_best")
    return ratio["median"] if ratio else None


def is_by_library(run):
    return run.get("best_baseline") not in (None, "openmp")


def over_releases(run, passed, fetched):
    """The same over the fastest of the system's releases alone, or of the fetched ones; None: no library of them ran."""
    own = judge.entry_of(run, passed)
    times = [entry["median_ns"] for entry in run.get("entries", ())
             if entry.get("kind") == "library" and entry["name"] != "openmp" and not entry["name"].endswith("-packed")
             and entry["outcome"] == "ok" and bool(entry.get("fetched")) == fetched]
    return min(times) / own["median_ns"] if own and times else None


def decile(values):
    """What one in ten lies below; of fewer than ten the least."""
    return sorted(values)[len(values) // 10]


def row(title, values):
    if not values:
        return [title, "0", "", "", ""]
    return [title, str(len(values)), f"{judge.geometric_mean(values):.2f}", f"{decile(values):.2f}", f"{min(values):.2f}"]


def ratios_of(runs, key):
    """name -> ratio."""
    found = {name: own_over_best(run, key) for name, run in runs.items()}
    return {name: ratio for name, ratio in found.items() if ratio is not None}


def table(runs, key, groups):
    """Rows of text: families in the order of `groups`, then all that a library computes, then the rest, then all."""
    ratios = ratios_of(runs, key)
    by_library = {name for name in ratios if is_by_library(runs[name])}
    rows = [row(group, [ratio for name, ratio in ratios.items() if runs[name]["group"] == group]) for group in groups]
    rows.append(row("what a library computes", [ratios[name] for name in ratios if name in by_library]))
    for title, fetched in (("  of the system's releases", False), ("  of fetched releases", True)):
        ratios_to = [over_releases(runs[name], key, fetched) for name in by_library]
        if known := [ratio for ratio in ratios_to if ratio is not None]:
            rows.append(row(title, known))
    rows.append(row("the rest, over plain loops", [ratios[name] for name in ratios if name not in by_library]))
    rows.append(row("all", list(ratios.values())))
    return rows


def worst(runs, key, count=WORST):
    """Names and ratios, the worst first."""
    return sorted(ratios_of(runs, key).items(), key=lambda one: one[1])[:count]


def gain(runs):
    """Default over tuned of workloads that have both: the geometric mean and the least."""
    ratios = [1 / run["tuned_over_default"]["median"] for run in runs.values() if "tuned_over_default" in run]
    return (judge.geometric_mean(ratios), min(ratios)) if ratios else None


def shown(rows):
    """Columns of even width."""
    titles = ["family", "workloads", "geometric mean", "worst decile", "least"]
    widths = [max(len(line[column]) for line in [titles, *rows]) for column in range(len(titles))]
    return "\n".join("  ".join(cell.ljust(width) if not column else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in [titles, *rows])


def report(data, suite_path):
    """The whole text: a table and the worst for each pass."""
    text = []
    for passed, key in (("default", "default"), ("tuned", "tuned")):
        runs = data["passes"].get(passed, {})
        if not runs:
            continue
        disturbed = sum(judge.is_disturbed(run) for run in runs.values())
        text += [f"{passed} schedules over the best library, {len(runs)} workloads ({disturbed} disturbed)", "",
                 shown(table(runs, key, data["families"])), ""]
        text += [f"  {ratio:.2f}  tile-tune bench {suite_path}:{name}" for name, ratio in worst(runs, key)] + [""]
        if both := gain(runs):
            text += [f"default over tuned: {both[0]:.2f} (least {both[1]:.2f})", ""]
    return "\n".join(text)


def summary(data, seed, title, date):
    """What docs/performance.md has of it: the table of default schedules, the worst, and what searches made of some."""
    runs = data["passes"].get("default", {})
    found = {"seed": seed, "title": title, "date": date, "rows": table(runs, "default", data["families"]),
             "worst": [[name, round(ratio, 2)] for name, ratio in worst(runs, "default")]}
    tuned = data["passes"].get("tuned", {})
    if both := gain(tuned):
        found["tuned"] = {"rows": table(tuned, "tuned", []), "default_over_tuned": [round(ratio, 2) for ratio in both],
                          "worst": [[name, round(ratio, 2)] for name, ratio in worst(tuned, "tuned", 3)]}
    return found


def weakest(runs, count):
    """The names with the smallest ratios of those that a library computes."""
    named = {name: run for name, run in runs.items() if is_by_library(run)}
    return [name for name, _ in worst(named, "default", count)]
