"""Measurements on disk: one JSON file, written after each workload, so that an interrupted run goes on."""

import json
import os
import pathlib

KIND, FORMAT = "performance", 2


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
    beside.write_text(_text(data), encoding="utf-8")
    os.replace(beside, path)


def _text(data):
    """JSON with a line for each of the largest parts' entries: small, and a change shows as lines of its own."""
    def compact(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def lines(value, depth):
        if depth == 0 or not isinstance(value, dict) or not value:
            return compact(value)
        entries = (f"{compact(key)}:{lines(inner, depth - 1)}" for key, inner in value.items())
        return "{\n" + ",\n".join(entries) + "\n}"

    parts = (f"{compact(key)}:{lines(value, {'passes': 2, 'histories': 1}.get(key, 0))}" for key, value in data.items())
    return "{\n" + ",\n".join(parts) + "\n}\n"


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
