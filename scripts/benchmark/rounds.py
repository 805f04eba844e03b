"""Timing of kernels of different makers in one process, as `tile-tune bench` does it (search/timing/side_by_side.h).

One pool of threads is awake at a time: before each sample all other threads are waited for until they sleep, and a call
that is not timed wakes the sample's own. Every thread a library starts is given a core.
"""

import contextlib
import fcntl
import math
import os
import random
import statistics
import threading
import time

SAMPLE_NS = 200_000  # calls back to back for at least so long are one sample
LONGEST_WAIT_S = 0.1  # OpenBLAS's threads spin for some 25 ms, libgomp's for some 5 ms
SLOW_FACTOR = 10  # who is so many times slower than the fastest is left out of the rounds
DISTURBED_SPREAD = 0.15  # samples that scatter by more (half the distance of p10 and p90, over the median)
RESAMPLES = 1000
LOCK_FILE = "/tmp/tile-tune.timing.lock"  # of every tile-tune on this machine (search/workers/machine_lock.cpp)
LONGEST_TURN_S = 10


@contextlib.contextmanager
def alone():
    """While no tile-tune builds or times kernels on this machine, unless one does for longer than its turn."""
    with contextlib.closing(_Lock()) as lock:
        deadline = time.monotonic() + LONGEST_TURN_S
        while not lock.take() and time.monotonic() < deadline:
            time.sleep(0.02)
        yield


class _Lock:
    def __init__(self):
        self.file = os.open(LOCK_FILE, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)

    def take(self):
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False

    def close(self):
        os.close(self.file)


class Placement:
    """The calling thread on the first core, threads that libraries start on the others in turn."""

    def __init__(self, cores):
        self.cores, self.known = list(cores), set(_threads())

    def open(self):
        """The calling thread may run anywhere: libraries that start threads count the cores it may use."""
        os.sched_setaffinity(0, self.cores)

    def close(self):
        os.sched_setaffinity(0, self.cores[:1])
        number = 1
        for thread in _threads():
            if thread in self.known:
                continue
            self.known.add(thread)
            try:
                os.sched_setaffinity(thread, {self.cores[number % len(self.cores)]})
            except ProcessLookupError:
                continue
            number += 1


def _threads():
    return [int(name) for name in os.listdir("/proc/self/task")]


def _is_running(thread):
    try:
        with open(f"/proc/self/task/{thread}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "R"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for_quiet():
    own, deadline = threading.get_native_id(), time.monotonic() + LONGEST_WAIT_S
    while time.monotonic() < deadline:
        if not any(_is_running(thread) for thread in _threads() if thread != own):
            return
        time.sleep(50e-6)


def sample(call, calls):
    """Nanoseconds a call, back to back."""
    start = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return (time.perf_counter_ns() - start) / calls


def calls_per_sample(nanoseconds):
    return max(1, math.ceil(SAMPLE_NS / nanoseconds))


def screen(kernels):
    """name -> (median ns of three calls); the first of four warms up."""
    times = {}
    for name, call in kernels.items():
        wait_for_quiet()
        times[name] = statistics.median([sample(call, 1) for _ in range(4)][1:])
    return times


def warm_up(call, seconds):
    """Wakes the call's own threads, until those that woke on one CPU are parted."""
    end = time.monotonic() + seconds
    call()
    while time.monotonic() < end:
        call()


def run(kernels, own, placement, rounds, seconds, seed, warm=0):
    """name -> samples in nanoseconds, one a round, and name -> time of those too slow to take part. `own` are never
    left out. Without a placement, threads run where the system puts them. `warm`: seconds of calls before each sample;
    one call at least."""
    times = screen(kernels)
    fastest = min(times.values())
    slow = {name: ns for name, ns in times.items() if name not in own and ns > SLOW_FACTOR * fastest}
    racing = [name for name in kernels if name not in slow]
    calls = {name: calls_per_sample(times[name]) for name in racing}
    samples = {name: [] for name in racing}
    order, start, done = random.Random(seed), time.monotonic(), 0
    while done < rounds or time.monotonic() - start < seconds:
        for name in order.sample(racing, len(racing)):
            wait_for_quiet()
            warm_up(kernels[name], warm)
            if placement:
                placement.close()
            samples[name].append(sample(kernels[name], calls[name]))
        done += 1
    return samples, slow


def quantile(values, share):
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    return ordered[low] + (position - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def bootstrap_median(values, seed):
    """95 % interval of the median."""
    draw = random.Random(seed)
    medians = [statistics.median(draw.choices(values, k=len(values))) for _ in range(RESAMPLES)]
    return quantile(medians, 0.025), quantile(medians, 0.975)


def speed_ratio(one, other, seed):
    """How many times faster `one` is than `other`: median of ratios paired by round, with its interval."""
    logs = [math.log(b / a) for a, b in zip(one, other)]
    lo, hi = bootstrap_median(logs, seed)
    return {"median": math.exp(statistics.median(logs)), "lo": math.exp(lo), "hi": math.exp(hi)}


def is_disturbed(samples):
    return (quantile(samples, 0.9) - quantile(samples, 0.1)) / 2 > DISTURBED_SPREAD * statistics.median(samples)
