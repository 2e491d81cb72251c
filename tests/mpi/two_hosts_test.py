# SPDX-License-Identifier: Apache-2.0
"""Places that an MPI starts on the two hosts of scripts/two-hosts. Arguments: over_mpi.py."""
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from over_mpi import (BUILT_BENCH, CONDUCT, CONTRACT, FILES, FLAVOUR, IDLE_SHARE, MEASURES, PATIENCE, SURVIVES, TULLE, WORK, MpiTest,
                      survivors_say)
from processes import MARK, command_line, processes

TWO_HOSTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "two-hosts")
CANNOT_BE_MADE = 125


class TwoHosts(MpiTest):
    """On the hosts `a` and `b` that scripts/two-hosts makes."""

    @classmethod
    def setUpClass(cls):
        done = subprocess.run([TWO_HOSTS, "true"], capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode == CANNOT_BE_MADE:
            raise unittest.SkipTest(done.stderr)

    def on_two(self, places, *words, where=("--hosts", "a,b"), **more):
        """On the hosts that `where` tells `tulle run`."""
        return self.run_words([TWO_HOSTS, TULLE, "run", *where, "-n", str(places), "--mpi", FLAVOUR, "--", *words], **more)

    def test_places_are_where_they_should(self):
        out, err = self.on_two(4, CONDUCT, "hosts")
        err = re.sub(r"\[a:\d+\] plm:rsh: Warning: setpgid.*\n", "", err)  # of Open MPI, where what stands for ssh has started sooner than it thinks
        self.assertEqual((out.splitlines(), err), (["0: a", "1: a", "2: b", "3: b"], ""))

    def test_an_allocation_of_pbs(self):
        """It tells by a file."""
        with tempfile.NamedTemporaryFile("w", suffix=".nodes") as file:
            file.write("a\nb\nb\n")
            file.flush()
            for places, where in ((3, "abb"), (2, "ab"), (6, "aabbbb")):
                out, _ = self.on_two(places, CONDUCT, "hosts", where=[], PBS_NODEFILE=file.name)
                self.assertEqual(out.splitlines(), [f"{k}: {name}" for k, name in enumerate(where)])

    def test_work_of_all_kinds(self):
        for places in (2, 4):
            out, _ = self.on_two(places, WORK, "exchange")
            self.assertEqual(out, f"{places} places have exchanged\n")

    def test_global_memory(self):
        out, _ = self.on_two(4, WORK, "memory")
        self.assertEqual(out, "4 places, 2 reached\n")

    @unittest.skipUnless(os.path.exists(FILES), "built without TNT")
    def test_files_input_and_output_of_place_0(self):
        self.assertEqual(self.on_two(4, FILES)[0], "")
        words = [f"word-{k}" for k in range(100)]
        for mode, options in (("lines", ()), ("streams", ("--io", "0"))):
            where = ("--hosts", "a,b", *options)
            out, _ = self.on_two(4, FILES, mode, where=where, input="\n".join(words) + "\n")
            self.assertEqual(sorted(line.split(" at ")[0] for line in out.splitlines()), sorted(words), mode)
            out, _ = self.on_two(4, FILES, mode + "-at-last", where=where, input="\n".join(words) + "\n")
            self.assertEqual(out, "".join(f"{word} at 3\n" for word in words), mode)

    @unittest.skipUnless(os.path.exists(BUILT_BENCH), "built without benchmarks")
    def test_benchmark(self):
        out, _ = self.run_words([TWO_HOSTS, TULLE, "bench", "at", "--hosts", "a,b", "--mpi", FLAVOUR, "--quick", "--n", "200", "--json"],
                                patience=150)  # MPICH takes all processors while it waits
        rows = {(row["library"], row["unit"]): row for row in map(json.loads, out.splitlines())}
        for library in ("tulle", "tulle_c", FLAVOUR):
            row = rows[library, "ns call"]
            self.assertEqual((row["ok"], row["places"], row["mpi"]), (True, 2, FLAVOUR))
            self.assertGreater(row["value"], 0)

    def test_contract(self):
        for places in (2, 4):
            self.expect_passed(self.on_two(places, CONTRACT, FLAVOUR, GTEST_COLOR="no")[0])

    def test_exit_code_and_death(self):
        self.on_two(4, CONDUCT, "count", "3", code=3)
        _, err = self.on_two(4, CONDUCT, "is-killed", "3", code=128 + 9)
        self.assertIn("tulle: run: place 3: ended by signal 9 (Killed); the others are stopped\n", err)

    def in_a(self, script):
        """A script in Python on host a, where `on_two(WORDS...)` starts places and `cable(up)` is what connects the hosts."""
        head = f"""
import os, signal, subprocess, sys, time
LIMIT = 3
def on_two(*words, program="{CONDUCT}"):
    job = subprocess.Popen(["{TULLE}", "run", "--hosts", "a,b", "-n", "4", "--mpi", "{FLAVOUR}", "--set", f"host_timeout={{LIMIT}}", "--", program,
                            *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return job
def count(host, program="conduct"):
    found = subprocess.run(["ip", "netns", "pids", host], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return [name_of(process) for process in found].count(program)
def name_of(process):
    try:
        with open("/proc/" + process + "/comm") as file:
            return file.read().rstrip("\\n")
    except OSError:  # has ended
        return ""
def cable(state):
    subprocess.run(["ip", "-n", "b", "link", "set", "eth9", state], check=True)
"""
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(head + script)
            file.flush()
            return self.run_words([TWO_HOSTS, sys.executable, file.name])

    def expect_nobody_left(self, seconds):
        """Neither places, nor what has started them."""
        end = time.monotonic() + seconds
        while processes(self.mark) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual({each: command_line(each) for each in processes(self.mark)}, {})

    def test_a_cable_that_is_cut_while_places_start_ends_the_job(self):
        """Whoever waits at that moment: the launcher, its daemons, or the MPI of the places. A daemon of which no place has been started yet is its
        launcher's matter."""
        for moment in (0, 0.2, 0.7):
            self.in_a(f"""
os.environ["TULLE_START_TIMEOUT"] = "8"
job = on_two("waits")
while count("b") == 0:
    assert job.poll() is None
    time.sleep(0.01)
time.sleep({moment})
cable("down")
assert job.wait(40) != 0
""")
            self.expect_nobody_left(30)

    def test_a_host_that_is_cut_off_before_its_places_use_tulle_ends_the_job(self):
        """All places have been started, so nobody waits for that any more."""
        _, err = self.in_a("""
job = on_two("1000", program="sleep")
while count("a", "sleep") + count("b", "sleep") < 4:
    assert job.poll() is None
    time.sleep(0.01)
time.sleep(1)
cable("down")
assert job.wait(40) != 0
""")
        self.expect_nobody_left(30)
        self.assertIn("tulle: run: host b has not been heard for 3 s (TULLE_HOST_TIMEOUT); the job is stopped\n", err)

    def test_a_host_that_is_cut_off_for_good_counts_as_dead(self):
        _, err = self.in_a("""
job = on_two("waits")
job.stdout.readline()
time.sleep(LIMIT)
cable("down")
begin = time.monotonic()
assert job.wait(40) != 0
assert time.monotonic() - begin >= LIMIT - 1
""")
        self.expect_nobody_left(20)
        self.assertIn("host b has not been heard for 3 s (TULLE_HOST_TIMEOUT); places 2, 3 count as dead, and the places of host a end", err)

    def test_a_short_cut_is_survived(self):
        out, err = self.in_a("""
job = on_two("waits")
job.stdout.readline()
time.sleep(LIMIT)
cable("down")
time.sleep(1)
cable("up")
time.sleep(LIMIT + 1)
job.communicate("", timeout=40)
sys.exit(job.returncode)
""")
        self.assertNotIn("TULLE_HOST_TIMEOUT", err)

    def test_nobody_is_left_on_either_host_when_the_launcher_is_killed(self):
        self.in_a("""
job = on_two("waits")
job.stdout.readline()
job.kill()
job.wait()
""")
        self.expect_nobody_left(20)

    def test_nobody_is_left_on_either_host_when_the_launcher_is_killed_and_the_cable_cut(self):
        self.in_a("""
job = on_two("waits")
job.stdout.readline()
cable("down")
job.kill()
job.wait()
""")
        self.expect_nobody_left(30)

    def test_a_place_that_is_stopped_is_no_host_that_is_dead(self):
        _, err = self.in_a("""
job = on_two("waits")
job.stdout.readline()
time.sleep(0.5)
def conducts():
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = open(f"/proc/{number}/environ", "rb").read().split(b"\\0")
            is_one = os.path.basename(os.readlink(f"/proc/{number}/exe")) == "conduct"
            if is_one and (b"OMPI_COMM_WORLD_RANK=2" in environment or b"PMI_RANK=2" in environment) and MARK in environment:
                found.append(int(number))
        except OSError:
            pass
    return found
MARK = ("PLACES_TEST=" + os.environ["PLACES_TEST"]).encode()
place, = conducts()
os.kill(place, signal.SIGSTOP)
time.sleep(3 * LIMIT)
os.kill(place, signal.SIGCONT)
job.communicate("", timeout=40)
sys.exit(job.returncode)
""")
        self.assertIn("host b is there, but place 2 has not run for 3 s: is it stopped?", err)

    @unittest.skipUnless(SURVIVES, "this MPI ends all places when one dies")
    def test_survivors_go_on(self):
        for dead in (1, 3):
            out, _ = self.on_two(4, CONDUCT, "survives", str(dead), "is-killed", TULLE_ON_PLACE_DEATH="throw")
            self.assertEqual(out, survivors_say(dead, 30, " ".join(str(k) for k in range(4) if k != dead)))

    @unittest.skipUnless(MEASURES, "beside other tests, or a build with a sanitizer")
    def test_who_computes_answers(self):
        median = math.inf
        for _ in range(4):  # other programs may have the processors for a while
            if median >= 5000:
                out, _ = self.on_two(2, WORK, "compute", "300", TULLE_WORKERS="1")
                median = float(re.search(r"median (\S+) us", out)[1])
        self.assertLess(median, 5000, out)

    @unittest.skipUnless(MEASURES, "beside other tests, or a build with a sanitizer")
    def test_idle_places_use_hardly_any_processor_time(self):
        seconds = 2
        used = self.on_two(4, CONDUCT, "idle-time", str(seconds))[0].split()
        self.assertEqual(len(used), 4)
        for each in used:
            self.assertLessEqual(float(each), IDLE_SHARE * seconds)


if __name__ == "__main__":
    unittest.main()
