#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Places of one host share work: all of them take part, results, exceptions and finishes are right, and afterwards nobody uses a processor.
Arguments: the paths of the programs `tulle` and `share`."""
import os
import subprocess
import sys
import time
import unittest
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from processes import MARK, processes, processor_seconds  # noqa: E402

SHARE = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
PATIENCE = 60  # seconds, for what must not hang


class SharedWork(unittest.TestCase):
    maxDiff = None
    def start(self, places, *words, workers=1, mark=""):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
        return subprocess.Popen([TULLE, "run", "-n", str(places), "--workers", str(workers), "--", SHARE, *words], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**kept, MARK: mark})

    def output(self, places, *words, **more):
        process = self.start(places, *words, **more)
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        self.assertEqual((process.returncode, err), (0, ""), (places, words, out))
        return out

    def test_forks_reach_all_places(self):
        for places, workers in ((1, 1), (2, 1), (2, 2), (4, 1)):
            self.assertEqual(self.output(places, "forks", workers=workers), f"{places} places\n")

    def test_joins_in_any_order(self):
        for places, workers in ((1, 2), (2, 1), (3, 1)):
            self.output(places, "walks", workers=workers)

    def test_exceptions_come_back(self):
        for places in (1, 2, 4):
            self.assertEqual(self.output(places, "throws"), "out of range far\nother xxx\nother xxx\n")

    def test_activities_reach_all_places(self):
        for places, workers in ((1, 1), (2, 1), (2, 2), (4, 1)):
            self.assertEqual(self.output(places, "activities", workers=workers), f"{places} places\n")

    def test_deterministic_runs(self):
        for how in ("forks", "throws", "activities"):
            for seed in ("1", "2", "3"):
                done = subprocess.run([SHARE, how], env={**os.environ, "TULLE_SEED": seed}, capture_output=True, text=True, timeout=PATIENCE, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), (how, seed, done.stdout))

    def test_places_rest_afterwards(self):
        seconds = 2
        mark = uuid.uuid4().hex
        process = self.start(3, "rests", mark=mark)
        self.addCleanup(process.kill)
        while process.stdout.readline() != "ready\n":
            self.assertIsNone(process.poll())
        used = []
        while len(used) < 4 and min(used, default=seconds) >= 0.05 * seconds * 3:  # on a slow machine they do not rest at once
            time.sleep(0.5)
            before = {each: processor_seconds(each) for each in processes(mark)}
            self.assertEqual(len(before), 4)
            time.sleep(seconds)
            used.append(sum(processor_seconds(each) - start for each, start in before.items()))
        self.assertLess(min(used), 0.05 * seconds * 3)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out), (0, "3 places\n"))


if __name__ == "__main__":
    unittest.main()
