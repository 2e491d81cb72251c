# SPDX-License-Identifier: Apache-2.0
"""What `tulle bench` says at its end if figures do not hold; shell scripts stand in for benchmarks. Argument: the path of the program."""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bench_test import LINE, Programs  # noqa: E402


class Noise(Programs):
    ADVICE = "For figures that hold, measure on a quiet machine or with more runs (--runs)"
    TICKS = os.sysconf("SC_CLK_TCK")

    def setUp(self):
        super().setUp()
        self.times = os.path.join(self.folder, "times")
        self.others_have_used(0)

    def times_text(self, seconds):
        return f"cpu {int(seconds * self.TICKS)} 0 0 99 99 0 0 0 0 0"

    def others_have_used(self, seconds):
        with open(self.times, "w", encoding="ascii") as file:
            file.write(self.times_text(seconds) + "\n")

    def prints_in_turn(self, library, *values):
        """One of them in each run."""
        turn = os.path.join(self.folder, library)
        line = ('{"bench": "mutex", "library": "%s", "workers": \'$2\', "places": 1, "n": 9, "value": \'$value\', "min": \'$value\', "max": \'$value\', '
                '"unit": "ns", "runs": 1, "ok": true}' % library)
        self.program("mutex", library, f"echo >> {turn}\nvalue=$(echo {' '.join(map(str, values))} | cut -d' ' -f$(wc -l < {turn}))\necho '{line}'\n")

    def noise(self, *words):
        done = self.bench("mutex", "--processor-times", self.times, *words)
        self.assertEqual(done.returncode, 0, done)
        said = [line.removeprefix("bench: ") for line in done.stderr.splitlines() if "noise" in line]
        lines = done.stdout.splitlines()
        if "--json" in words:
            self.assertTrue(all(line.startswith("{") for line in lines), done.stdout)
        else:
            self.assertEqual([line for line in lines if "noise" in line], said)
            self.assertTrue(not said or lines[-1] == said[0], done.stdout)
        return said

    def test_figures_that_vary(self):
        self.prints_in_turn("tulle", 100, 101, 99, 100, 102)
        self.prints_in_turn("pthread", 100, 130, 80, 101, 250)
        self.assertEqual(self.noise(), ["noise: 1 of 2 figures varies much from run to run, most of all mutex of pthread with 1 worker (100 to 130 ns). " + self.ADVICE])

    def test_said_beside_json(self):
        self.prints_in_turn("tulle", 100, 200, 300, 400, 500)
        self.assertEqual(self.noise("--json"), ["noise: 1 of 1 figures varies much from run to run, most of all mutex of tulle with 1 worker (200 to 400 ns). " + self.ADVICE])

    def test_one_run_that_was_disturbed_is_none(self):
        self.prints_in_turn("tulle", 100, 101, 900, 99, 100)
        self.assertEqual(self.noise(), [])

    def test_of_few_runs_more_is_needed(self):
        self.prints_in_turn("tulle", 100, 140, 100)
        self.assertEqual(self.noise("--runs", "3"), [])
        self.prints_in_turn("tulle", 0, 0, 0, 100, 160, 100)  # after three
        self.assertEqual(len(self.noise("--runs", "3")), 1)

    def test_nothing_is_known_of_two_runs(self):
        self.prints_in_turn("tulle", 100, 900)
        self.assertEqual(self.noise("--runs", "2"), [])

    def test_load_by_others(self):
        line = LINE % ("mutex", "tulle", 5, 5, 5, "ns", "true")
        self.program("mutex", "tulle", f"echo '{self.times_text(100000)}' > {self.times}\necho '{line}'\n")
        said, = self.noise()
        self.assertRegex(said, r"\Anoise: other programs used [1-9]\d* processors on average meanwhile\. " + re.escape(self.ADVICE))

    def test_a_machine_that_does_not_tell_is_none(self):
        self.prints_in_turn("tulle", 100, 100, 100, 100, 100)
        os.remove(self.times)
        self.assertEqual(self.noise(), [])


if __name__ == "__main__":
    unittest.main()
