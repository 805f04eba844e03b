"""Workloads as `tile-tune bench --json` writes them, for tests."""


def ratio(median, spread=0.02):
    return {"median": median, "lo": median * (1 - spread), "hi": median * (1 + spread)}


def entry(name, median_ns, kind="schedule", disturbed=False, share=0.5):
    return {"name": name, "outcome": "ok", "reason": "", "note": "", "kind": kind, "median_ns": median_ns,
            "interval_ns": [median_ns * 0.99, median_ns * 1.01], "disturbed": disturbed, "gflops": 100.0,
            "gbytes": 10.0, "roof_share": share, "roof_share_interval": [share - 0.01, share + 0.01]}


def run(name, group, over_best=1.0, gain=2.0, flops=1 << 29, size=1 << 20, share=0.5, disturbed=False):
    return {"name": name, "group": group, "flops": flops, "bytes": size, "weights": [], "alone": True, "dtype": "f32",
            "from_memory": False, "best_baseline": "onednn", "roofs": {"gflops": 400.0, "gbytes": 80.0},
            "entries": [entry("default", 2000.0), entry("tuned", 1000.0, disturbed=disturbed, share=share),
                        entry("onednn", 1000.0 * over_best, kind="library")],
            "tuned_over_best": ratio(over_best), "default_over_best": ratio(over_best / gain),
            "tuned_over_default": ratio(gain)}


def suite_of(*runs):
    return [{key: one[key] for key in ("name", "group", "flops", "bytes", "weights")} for one in runs]
