"""Measurements on disk: one JSON file, written after each workload, so that an interrupted run goes on."""

import json
import os
import pathlib

KIND, FORMAT = "performance", 1


def empty(machine, suite):
    """`suite`: name -> what the suite says of a workload."""
    fields = ("name", "group", "flops", "bytes", "weights")
    kept = [{field: workload[field] for field in fields} for workload in suite.values()]
    return {"kind": KIND, "format": FORMAT, "machine": machine, "suite": kept, "passes": {}, "histories": {}}


def read_json(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: {error}") from error


def load(path):
    data = read_json(path)
    if not isinstance(data, dict) or data.get("kind") != KIND or data.get("format") != FORMAT:
        raise ValueError(f"{path} holds no measurements of scripts/performance")
    return data


def save(path, data):
    """Written beside and renamed: never half a file."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".tmp")
    beside.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(beside, path)


def trimmed(workload):
    """A workload without its samples, of which medians and intervals say what the document shows, but how many."""
    entries = [{key: value for key, value in entry.items() if key != "samples_ns"} |
               ({"rounds": len(entry["samples_ns"])} if "samples_ns" in entry else {})
               for entry in workload["entries"]]
    return _rounded({**workload, "entries": entries})


def _rounded(value):
    """Five digits: more than a measurement holds, in files people look at."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list) else value
