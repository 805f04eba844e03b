"""Runs searches with `tile-tune tune`, each with a database of its own, and reads off what became of them."""

import dataclasses
import json
import pathlib
import sqlite3
import statistics
import subprocess

# One of each kind of the suite (decision 21).
WORKLOADS = ("tc_tmm_128x1024x1024", "matmul_1024", "tc_bmm_500x26x72x26", "tc_gc_32x32x8x28",
             "resnet_c2_3x3_b1_nchw", "conv1d_8x4096x64_k3", "dwconv3x3_8x128x56_nchw", "tc_kron3_256_16_32",
             "tccg01_abc-bda-dc", "attn_qk_4x8x512x64", "softmax_4096x1024", "matmul_bf16_1024")

# Those on which the comparison of strategies by replay is confirmed live: of the twelve those whose default schedule,
# every search's first trial, does not reach 90 % of the best by itself (two Zen 4 cores).
LIVE = ("tc_gc_32x32x8x28", "dwconv3x3_8x128x56_nchw", "tc_kron3_256_16_32", "tccg01_abc-bda-dc")

GOAL = 0.9  # of the long search's best


@dataclasses.dataclass(frozen=True)
class Search:
    """What one search is asked for; its database is named after it."""
    workload: str
    trials: int
    seed: int
    strategy: str = "model"

    @property
    def name(self):
        return f"{self.workload}-{self.strategy}-{self.trials}-{self.seed}"


@dataclasses.dataclass(frozen=True)
class Tool:
    path: str
    suite: str
    threads: int
    folder: pathlib.Path

    def database(self, search):
        return self.folder / f"{search.name}.db"

    def result(self, search):
        return self.folder / f"{search.name}.json"

    def run(self, arguments):
        """The command's JSON; raises CalledProcessError with the tool's own words."""
        command = [self.path, *arguments, "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        return json.loads(done.stdout)


def ensure(tool, search):
    """The search's summary (`tune --json`); runs it, or what is left of it, unless it is there already."""
    if tool.result(search).exists():
        return json.loads(tool.result(search).read_text(encoding="utf-8"))
    tool.folder.mkdir(parents=True, exist_ok=True)
    command = ["tune", f"{tool.suite}:{search.workload}", "--db", str(tool.database(search)), "--threads",
               str(tool.threads)]
    if trials_in(tool.database(search)):
        command.append("--resume")
    else:
        command += ["--trials", str(search.trials), "--seed", str(search.seed), "--strategy", search.strategy]
    summary = tool.run(command)
    tool.result(search).write_text(json.dumps(summary) + "\n", encoding="utf-8")
    return summary


def connect(database):
    return sqlite3.connect(f"file:{database}?mode=ro", uri=True)


def trials_in(database):
    """[(outcome, ratio to the default)] in the order they were tried, finals left out; empty without a database."""
    if not database.exists():
        return []
    connection = connect(database)
    rows = connection.execute("SELECT outcome, COALESCE(ratio, 0) FROM trial WHERE origin != 'final' ORDER BY sequence")
    trials = rows.fetchall()
    connection.close()
    return trials


def trials_to(goal, trials):
    """How many trials it took to reach a ratio; one more than there are where none did."""
    for number, (outcome, ratio) in enumerate(trials, 1):
        if outcome == "ok" and ratio >= goal:
            return number
    return len(trials) + 1


def figures(summary):
    """What the document shows of a search."""
    tuned = summary["tuned"]
    return {"ratio": tuned["ratio"], "ratio_interval": tuned["ratio_interval"], "gflops": tuned["gflops"],
            "disturbed": tuned["disturbed"], "disturbed_trials": summary["disturbed_trials"],
            "trials": summary["trials"] + summary["replayed"], "seconds": summary["seconds"],
            "search_share": summary["search_share"], "model": summary.get("model")}


def replayed(tool, search, replays, trials):
    """strategy -> median trials to 90 and 95 % of the recorded best, by `simulate`."""
    lines = tool.run(["simulate", "--db", str(tool.database(search)), "--seeds", str(replays), "--trials", str(trials),
                      "--strategy", "model", "--strategy", "genetic"])
    kept = ("median_trials_to_90", "median_trials_to_95", "seeds_that_reached_90", "schedules", "pairwise_accuracy",
            "top_recall")
    return {line["strategy"]: {key: line[key] for key in kept if key in line} for line in lines}


def live(tool, long, short_searches):
    """strategy -> median over the short searches, and over genetic ones of the same trials and seeds, of the trials to
    90 % of what the long search's winner reached in its finals."""
    goal = GOAL * long["ratio"]
    result = {}
    for strategy in ("model", "genetic"):
        counts = []
        for search in short_searches:
            search = dataclasses.replace(search, strategy=strategy)
            ensure(tool, search)
            counts.append(trials_to(goal, trials_in(tool.database(search))))
        result[strategy] = {"trials_to_90": counts, "median": statistics.median(counts)}
    return result
