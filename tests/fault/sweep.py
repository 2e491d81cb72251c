#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets each call of the library to the system fail in turn, in a program of tests/fault/programs:

    sweep.py [--quick] [--kind KIND]... [--tulle TULLE --places N] PROGRAM...

runs `PROGRAM --fail KIND:N` for each kind of call and N = 1, 2, ... until a run ends without having come to its N-th call. A run must end
well, having met documented errors at most, and hold no more memory at its end than a run without failures; or it must die with one of the
sentences below, which are the policy where a call has no way to report an error. All else is a failure, and so is a run that takes too
long. Then all calls of the kind fail from the first on, where the library can do without. --quick tries the first few N of each kind, and then
ever fewer.

With --places the program is started as so many places by the program `tulle`, and each of these meets the failures in turn.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

KINDS = ("allocation", "mmap", "munmap", "mprotect", "madvise", "advise-batch", "futex-eintr", "futex-eagain", "membarrier", "thread",
         "affinity", "file", "shared-file", "read-memory")
# Where the program has no way to hear of an error.
POLICY = (
    r"tulle: cannot start: .+",
    r"tulle: no memory to attach an OS thread \(\d+ bytes\)",
    r"Fatal glibc error: failed to register TLS destructor: out of memory",  # likewise, by the C library
    r"tulle: no memory for the records of forked threads \(.+\)",
    r"tulle: no memory for more than \d+ forked threads that are not joined \(.+\)",
    r"tulle: no memory for the stack of a waiting thread \(.+",
    # Of places: what is not said to one place would leave another one waiting.
    r"tulle: cannot become a place: .+",
    r"tulle: place \d+ cannot map the memory of the places .+",
    r"tulle: place \d+ (was ended by signal|ended with exit code) .+ before it (took part|used Tulle)",
    r"tulle: no memory for a message of \d+ bytes (from|to) place \d+.*",
    r"tulle: no memory for an exception that has left an activity",
    r"tulle: no memory to tell place \d+ that its activities have ended",
    r"tulle: no memory for what another place tells of its activities",
    r"tulle: no memory to begin a collective operation, for which other places wait",
    r"tulle: no memory for a thread that runs activities",
)
# A wait that returns at once, and a fence that there is no memory for, are tried again: not these for ever.
NOT_LASTING = ("futex-eintr", "futex-eagain", "membarrier")
MOST = 5000  # of one kind, in case a program never stops making such calls
SINGLE_DEQUE = 32768  # bytes that the library holds in another place, when it was refused a larger piece
QUICK_ALL = 10  # --quick: every N up to here
QUICK_GROWTH = 1.7  # then in steps that grow so
WATCHDOG = 60  # seconds
PEACEFUL_RUNS = 4  # to see what a program may hold


class Run:
    """One run of a program."""

    def __init__(self, program, fail=None):
        self.command = program.command + (["--fail", fail] if fail else [])
        self.died = program.died
        self.gives_back = program.gives_back
        child = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        try:
            self.out, self.err = child.communicate(timeout=WATCHDOG)
            self.code = child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            self.out, self.err = child.communicate()
            self.code = None
        self.report = {name: int(value) for name, value in re.findall(r"([a-z-]+)=(-?\d+)", self.out)}

    @property
    def died_by_policy(self):
        # The last line is the program's, or what `tulle run` says of the place that has died.
        lines = [line for line in self.err.strip().splitlines() if not line.startswith("tulle: run: ")]
        return self.code == self.died and bool(lines) and any(re.fullmatch(sentence, lines[-1]) for sentence in POLICY)

    @property
    def reached(self):
        return self.code != 0 or self.report.get("reached", 0) != 0

    def problem(self, most, kind):
        """What is wrong with it, or None. `most`: what a run may hold at its end."""
        if self.code is None:
            return "hangs"
        if self.died_by_policy:
            return None
        if self.code != 0:
            return f"ends with {self.code}"
        for name in ("blocks", "mapped") if self.gives_back else ():
            if self.report.get(name, 0) > most[name] + (SINGLE_DEQUE if (name, kind) == ("mapped", "mmap") else 0):
                return f"holds {name} {self.report[name]}, a run without failures at most {most[name]}"
        return None


class Program:
    """One that is started by itself, or as some places of which `place` meets the failures."""

    def __init__(self, path, tulle=None, places=0, place=0):
        self.name = os.path.basename(path) + (f", place {place} of {places}" if places else "")
        # A substitute comes where a worker is stuck, which differs from run to run, and holds a stack.
        alike = ["env", "TULLE_MAX_SUBSTITUTES=off"]
        self.command = [*alike, f"FAULT_PLACE={place}", tulle, "run", "-n", str(places), "--no-bind", "--tags", "none", path] if places else [*alike, path]
        self.died = 128 + signal.SIGABRT if places else -signal.SIGABRT
        self.gives_back = place == 0  # the others end in the middle of a call
        self.guests = 1 if places else 0  # the service thread is one once a message has come by it, which a run may do without


def numbers(quick):
    """The N to try, without end."""
    n = 1
    while True:
        yield n
        n = n + 1 if not quick or n < QUICK_ALL else int(n * QUICK_GROWTH) + 1


class Sweep:
    def __init__(self, program, quick, pool):
        self.program = program
        self.quick = quick
        self.pool = pool
        self.failures = 0
        self.runs = 0
        peaceful = [Run(program) for _ in range(PEACEFUL_RUNS)]
        for run in peaceful:
            if run.code != 0:
                sys.exit(f"sweep: {program.name} fails by itself ({run.code}):\n{run.err}")
        self.most = {name: max(run.report[name] for run in peaceful) for name in ("blocks", "mapped")}
        self.most["blocks"] += program.guests

    def judge(self, n, kind, run):
        self.runs += 1
        problem = run.problem(self.most, kind)
        if problem is None:
            return
        self.failures += 1
        print(f"FAILED {self.program.name} {kind}:{n} {problem}\n  replay: {' '.join(run.command)}")
        for line in run.err.strip().splitlines()[-12:]:
            print(f"  | {line}")

    def sweep(self, kind):
        """True: some call of this kind was made to fail."""
        candidates = numbers(self.quick)
        met = {"errors": 0, "policy": 0}
        reached = True
        last = 0
        while reached and last < MOST:
            batch = [next(candidates) for _ in range(self.pool._max_workers)]
            runs = list(self.pool.map(lambda n: Run(self.program, f"{kind}:{n}"), batch))
            for n, run in zip(batch, runs):
                self.judge(n, kind, run)
                met["errors"] += run.report.get("errors", 0)
                met["policy"] += run.died_by_policy
                if run.reached:
                    last = n
            reached = runs[-1].reached
        if last and kind not in NOT_LASTING:
            self.judge("1+", kind, Run(self.program, f"{kind}:1+"))
        if last:
            print(f"{self.program.name} {kind}: up to {last}, {met['errors']} errors, {met['policy']} ends by policy", flush=True)
        return last > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only calls of this kind")
    parser.add_argument("--tulle", help="the program that starts places")
    parser.add_argument("--places", type=int, default=0)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    chosen = parser.parse_args()
    programs = [Program(path, chosen.tulle, chosen.places, place) for path in chosen.programs for place in range(max(1, chosen.places))]
    failures = 0
    with ThreadPoolExecutor(max_workers=2) as pool:
        for program in programs:
            sweep = Sweep(program, chosen.quick, pool)
            if not any([sweep.sweep(kind) for kind in chosen.kind or KINDS]):
                sys.exit(f"sweep: no call of {program.name} was made to fail")
            print(f"{program.name}: {sweep.runs} runs, {sweep.failures} failed", flush=True)
            failures += sweep.failures
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
