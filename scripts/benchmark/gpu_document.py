"""docs/gpu-performance.md from what scripts/gpu-check brought back. Pure: findings in, text out.

Nothing here is taken from a prediction, and a bar for which something is missing is open, never met."""

from dataclasses import dataclass

from benchmark import judge, markdown

KIND, FORMAT = "gpu-check", 1
LARGE_PRODUCTS = ("matmul_2048", "matmul_4096", "tmm_2048")
TITLES = {"products": "Products", "memory": "Memory-bound programs", "contractions": "Convolutions and contractions"}
COMPARED = ("grouped-convolutions", "batched-products", "contractions")


@dataclass(frozen=True)
class Verdict:
    what: str
    bar: str
    found: str
    state: str  # "yes", "**no**", "open"


def is_of_gpu(data):
    return isinstance(data, dict) and data.get("kind") == KIND and data.get("format") == FORMAT


def workload_in(finding):
    """What bench says of the one workload that it was called for, or None."""
    return (finding or {}).get("workloads", [None])[0] if isinstance(finding, dict) else None


def entry_of(workload, *names):
    """The first of the names that ran."""
    entries = {entry["name"]: entry for entry in (workload or {}).get("entries", []) if entry.get("median_ns")}
    return next((entries[name] for name in names if name in entries and entries[name]["outcome"] == "ok"), None)


def measured(data):
    """name -> the workload with the best that is known of it: with its tuned schedule where it was searched for."""
    result = {}
    for part in (*TITLES, "tuned"):
        for name, finding in data["parts"].get(part, {}).items():
            workload = workload_in(finding)
            if workload:
                result[name] = workload
    return result


def over_library(data, name, workload):
    """Speed over PyTorch's, or None."""
    library, own = data["parts"].get("libraries", {}).get(name, {}), entry_of(workload, "tuned", "default")
    if not own or library.get("outcome") != "ok":
        return None
    return library["median_ns"] / own["median_ns"]


def of_copy(workload):
    """Share of a device copy's bandwidth, of what is larger than the last cache; else None."""
    entry = entry_of(workload, "tuned", "default")
    rate = workload.get("roofs", {}).get("gbytes", 0)
    if not entry or not rate or not workload.get("from_memory"):
        return None
    return entry["gbytes"] / rate


def _verdict(what, ratios, wanted, mean=0.0, least=0.0):
    """`ratios`: name -> number; `wanted`: how many it takes."""
    bars = [f"mean ≥ {mean:g}"] * (mean > 0) + [f"each ≥ {least:g}"] * (least > 0)
    if not ratios:
        return Verdict(what, ", ".join(bars), "nothing", "open")
    average, worst = judge.geometric_mean(list(ratios.values())), min(ratios, key=ratios.get)
    found = f"{len(ratios)} of {wanted}: mean {average:.2f}, least {ratios[worst]:.2f} ({worst})"
    if (mean and average < mean) or (least and ratios[worst] < least):
        return Verdict(what, ", ".join(bars), found, "**no**")
    return Verdict(what, ", ".join(bars), found, "yes" if len(ratios) >= wanted else "open")


def correctness(data):
    findings = data["parts"].get("correctness", {})
    right, wrong, bad = 0, 0, []
    for name, finding in findings.items():
        outcomes = finding.get("outcomes", {})
        right += sum(outcomes.get(outcome, 0) for outcome in ("ok", "slow"))
        others = {outcome: count for outcome, count in outcomes.items()
                  if outcome not in ("ok", "slow", "duplicate", "compile-error") and count}
        wrong += sum(others.values())
        if others or not outcomes:
            bad.append(name)
    found = f"{right} schedules of {len(findings)} programs right, {wrong} not"
    if bad:
        found += ": " + ", ".join(bad)
    return Verdict("the documents' examples, by default and random schedules", "all right",
                   found if findings else "nothing", "**no**" if bad else "yes" if findings else "open")


def searching(data):
    trials = {name: finding["trials"] for name, finding in data["parts"].get("search", {}).items()
              if "trials" in finding}
    bar = 200 * data["search_seconds"] / 180
    found = ", ".join(f"{name} {count}" for name, count in trials.items())
    state = "open" if len(trials) < 6 else "yes" if min(trials.values()) >= bar else "**no**"
    return Verdict(f"trials in {data['search_seconds']} s", f"each ≥ {bar:g}", found or "nothing", state)


def verdicts(data):
    workloads = measured(data)
    ratios = {name: ratio for name, one in workloads.items() if (ratio := over_library(data, name, one))}
    products = {name: ratios[name] for name in LARGE_PRODUCTS if name in ratios}
    memory = {name: share for name, one in workloads.items()
              if one["group"] in ("reductions", "permutations", "fused-chains") and (share := of_copy(one))}
    large = sum(one["group"] in ("reductions", "permutations", "fused-chains") and one.get("from_memory", False)
                for one in workloads.values())
    compared = [name for name, one in workloads.items() if one["group"] in COMPARED]
    automatic = {}
    for name, finding in data["parts"].get("schedulers", {}).items():
        workload = workload_in(finding) or {}
        ratio = workload.get("tuned_over_autoscheduler") or workload.get("default_over_autoscheduler")
        if ratio:
            automatic[name] = ratio["median"]
    return [correctness(data),
            _verdict("f32 products from 2048³ over PyTorch's (cuBLAS, TF32 off)", products, len(LARGE_PRODUCTS),
                     least=0.85),
            _verdict("memory-bound, share of a device copy's bandwidth", memory, max(1, large), least=0.9),
            _verdict("grouped convolutions, batched products, contractions over PyTorch's",
                     {name: ratios[name] for name in compared if name in ratios}, max(1, len(compared)), mean=1.5),
            _verdict("over Anderson2021", automatic, max(1, len(data["parts"].get("schedulers", {}))), mean=2, least=1),
            searching(data)]


def _cell(entry):
    return markdown.time_text(entry["median_ns"]) if entry else "-"


def table(data, part, workloads):
    lines = ["| workload | default | tuned | PyTorch | over PyTorch | GFLOP/s | GB/s | of a copy | launch |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for name, finding in data["parts"].get(part, {}).items():
        workload = workloads.get(name)
        best = entry_of(workload, "tuned", "default")
        if not best:
            reasons = [entry.get("reason", "") for entry in (workload or {}).get("entries", [])]
            why = finding.get("failed") or next(filter(None, reasons), "no kernel ran")
            lines.append(f"| {name} | {markdown.short(why)} | | | | | | | |")
            continue
        library = data["parts"].get("libraries", {}).get(name, {})
        ratio, share = over_library(data, name, workload), of_copy(workload)
        lines.append(f"| {name} | {_cell(entry_of(workload, 'default'))} | {_cell(entry_of(workload, 'tuned'))} | "
                     f"{_cell(library if library.get('outcome') == 'ok' else None)} | "
                     f"{'-' if ratio is None else f'{ratio:.2f}'} | {best['gflops']:.0f} | {best['gbytes']:.0f} | "
                     f"{'-' if share is None else f'{share:.2f}'} | "
                     f"{markdown.time_text(best['launch_ns']) if best.get('launch_ns') else '-'} |")
    return "\n".join(lines) + "\n"


def render(data):
    device, workloads = data["device"], measured(data)
    conditions = sorted({one["device"] for one in workloads.values() if one.get("device")})
    parts = [f"""# Kernels on a GPU, measured

Made by `scripts/gpu-check` on a machine that had it; `scripts/performance --from FILE` renders its findings again.

- Device: {device['name']}, driver {device['driver']}; kernels for `{data['target']}`
- tile-tune {data['version']}, measured {data['date']}
- Times are medians by the device's clock (OpenCL: the host's), of calls in a row. PyTorch's are of the same machine and hour but not of the
  same rounds: their ratios have no interval, and differences below 5 % mean nothing.
- launch: what a call takes the host, which is no part of the time
"""]
    if conditions:
        parts.append(f"- The device meanwhile: {conditions[0]}" +
                     (f" to {conditions[-1]}" if len(conditions) > 1 else "") + "\n")
    parts.append("## Bars\n\n| what | bar | found | met |\n| --- | --- | --- | --- |\n" +
                 "".join(f"| {one.what} | {one.bar} | {one.found} | {one.state} |\n" for one in verdicts(data)))
    for part, title in TITLES.items():
        if data["parts"].get(part):
            parts.append(f"## {title}\n\n{table(data, part, workloads)}")
    return "\n".join(parts)
