"""The two plots of docs/performance.md."""

import math
import statistics

from benchmark import judge, svg


def roofline(workloads):
    """Arithmetic intensity against GFLOP/s, default and tuned, under the roofs that the probes found. None without
    anything to show."""
    points = [point for point in map(_point, workloads) if point]
    roofs = _roofs(workloads)
    if not points or not roofs["gflops"]:
        return None
    intensities = [p["intensity"] for p in points]
    rates = [rate for p in points for rate in (p["default"], p["tuned"]) if rate]
    x_range = (min(intensities) / 2, max(intensities) * 2)
    y_range = (min(rates) / 2, max([*rates, *roofs["gflops"].values()]) * 2)
    plot = svg.Plot("Roofline, two threads", x_range, y_range, x_log=True, y_log=True, height=560, right=200)
    plot.axes(svg.decades(*x_range), svg.decades(*y_range), "FLOP per byte of compulsory traffic", "GFLOP/s")
    _draw_roofs(plot, roofs, x_range, y_range)
    groups = list(dict.fromkeys(p["group"] for p in points))
    colors = {group: svg.COLORS[i % len(svg.COLORS)] for i, group in enumerate(groups)}
    for p in points:
        _draw_point(plot, p, colors[p["group"]])
    legend = [(colors[group], True, group) for group in groups]
    plot.legend(legend + [(svg.INK, True, "tuned"), (svg.INK, False, "default")], plot.width - plot.right + 22,
                plot.height - plot.bottom - 19 * (len(legend) + 2) + 8)
    return plot.render()


def _point(workload):
    if not workload["flops"] or not workload["bytes"]:
        return None
    rates = {name: judge.entry_of(workload, name) for name in ("default", "tuned")}
    if not any(rates.values()):
        return None
    return {"name": workload["name"], "group": workload["group"] or "others",
            "intensity": workload["flops"] / workload["bytes"],
            **{name: entry["gflops"] if entry else None for name, entry in rates.items()}}


def _roofs(workloads):
    """The FMA peak by element type, and the bandwidth of streams beyond the caches: medians over workloads."""
    peaks, streams = {}, []
    for workload in workloads:
        roofs = workload.get("roofs", {})
        if roofs.get("gflops"):
            peaks.setdefault(workload.get("dtype", "f32"), []).append(roofs["gflops"])
        if roofs.get("gbytes") and workload.get("from_memory"):
            streams.append(roofs["gbytes"])
    return {"gflops": {dtype: statistics.median(values) for dtype, values in peaks.items()},
            "gbytes": statistics.median(streams) if streams else None}


def _draw_roofs(plot, roofs, x_range, y_range):
    f32 = roofs["gflops"].get("f32", max(roofs["gflops"].values()))
    bandwidth = roofs["gbytes"]
    ridge = f32 / bandwidth if bandwidth else x_range[0]
    for dtype, peak in _told_apart(roofs["gflops"]):
        start = max(x_range[0], peak / bandwidth if bandwidth else x_range[0])
        if start >= x_range[1]:
            continue
        main = "f32" in dtype
        plot.line([(start, peak), (x_range[1], peak)], width=2 if main else 1.2, dash="" if main else "5 4")
        plot.text(plot.width - plot.right + 8, plot.y(peak) + 4, f"{dtype} {peak:.0f} GFLOP/s", size=11,
                  anchor="start", data=False)
    if bandwidth:
        low = max(x_range[0], y_range[0] / bandwidth)
        high = min(x_range[1], max(roofs["gflops"].values()) / bandwidth)
        plot.line([(low, low * bandwidth), (high, high * bandwidth)], width=2)
        x = (low * min(ridge, high)) ** 0.5
        slope = _slope(plot, x, bandwidth)
        plot.text(x, x * bandwidth * 1.12, f"memory {bandwidth:.0f} GB/s", size=11, rotate=slope)


def _told_apart(peaks):
    """(element types, peak) with those that lie within a tenth of each other as one: 'f32, f16'."""
    merged = []
    for dtype, peak in sorted(peaks.items(), key=lambda item: item[1]):
        if merged and peak < 1.1 * merged[-1][1]:
            known, first = merged[-1]
            merged[-1] = (", ".join(sorted([*known.split(", "), dtype], key=lambda name: name != "f32")), first)
        else:
            merged.append((dtype, peak))
    return merged


def _slope(plot, x, bandwidth):
    return math.degrees(math.atan2(plot.y(2 * x * bandwidth) - plot.y(x * bandwidth), plot.x(2 * x) - plot.x(x)))


def _draw_point(plot, point, color):
    x = point["intensity"]
    if point["default"] and point["tuned"]:
        plot.line([(x, point["default"]), (x, point["tuned"])], color=color, width=1, opacity=0.6)
    for name, filled in (("default", False), ("tuned", True)):
        if point[name]:
            plot.mark(x, point[name], color, filled, f"{point['name']}, {name}: {point[name]:.1f} GFLOP/s")


def convergence(histories):
    """Best so far as a share of the session's best, over trials: a line a workload, and median and quartiles of all.
    `histories`: as benchmark.history reads them."""
    curves = {name: best_so_far(history) for name, history in histories.items()}
    if not curves:
        return None
    longest = max(len(curve) for curve in curves.values())
    plot = svg.Plot("Best so far over trials", (1, max(longest, 2)), (0, 100), height=460)
    step = max(1, round(longest / 8 / 8) * 8)
    plot.axes([(x, str(x)) for x in [1, *range(step, longest + 1, step)]],
              [(y, f"{y} %") for y in range(0, 101, 20)], "trials", "of the session's best")
    for name, curve in curves.items():
        plot.line([(i + 1, 100 * share) for i, share in enumerate(curve)], color=svg.COLORS[5], width=1, opacity=0.45,
                  title=name)
    quartiles = [_quartiles([curve[min(i, len(curve) - 1)] for curve in curves.values()]) for i in range(longest)]
    lower, middle, upper = ([(i + 1, 100 * q[k]) for i, q in enumerate(quartiles)] for k in range(3))
    plot.area(upper, lower, svg.COLORS[0])
    plot.line(middle, color=svg.COLORS[0], width=2.5)
    plot.legend([(svg.COLORS[0], None, f"median and quartiles of {len(curves)} workloads"),
                 (svg.COLORS[5], None, "a workload")], plot.width - 300, plot.height - 110)
    return plot.render()


def best_so_far(history):
    """Shares of the best, one a trial; faults (ratio 0) leave it as it is."""
    top = history["best"][-1][1]
    shares = []
    for (before, best), (end, _) in zip(history["best"], [*history["best"][1:], (history["trials"], None)]):
        shares += [best / top if top else 0.0] * (end - before)
    return shares


def _quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
