# SPDX-License-Identifier: Apache-2.0
"""Global memory of real processes. Arguments: the paths of the programs `tulle` and `remember`."""
import os
import re
import subprocess
import sys
import unittest

REMEMBER = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
PLACES = (0, 1, 2, 4)  # 0: without `tulle run`


def run(places, how, **options):
    launcher = [TULLE, "run", "-n", str(places), "--"] if places else []
    environment = {**os.environ, **{f"TULLE_GLOBAL_{name.upper()}": value for name, value in options.items()}}
    return subprocess.run([*launcher, REMEMBER, how], capture_output=True, text=True, timeout=100, check=False, env=environment)


class GlobalMemory(unittest.TestCase):
    def succeeds(self, places, how, **options):
        done = run(places, how, **options)
        self.assertEqual(done.returncode, 0, (places, how, options, done))
        return done

    def test_places_share_it(self):
        for places in PLACES:
            for how in ("adds", "reaches", "array"):
                self.assertEqual(self.succeeds(places, how).stderr, "")

    def test_an_allocation_spans_places(self):
        for places in PLACES:
            for algorithm in ("first_fit", "best_fit", "round_robin"):
                self.succeeds(places, "spans", memory=f"{2 * max(places, 1)}M", algorithm=algorithm)

    def test_groups_help_out(self):
        for group in ("all", "1", "2", "3"):
            done = self.succeeds(4, "exhausts", memory="8M", group=group, algorithm="buddy")
            self.assertIn("8: tulle: no hole in global memory is large enough", done.stdout)

    def test_what_is_left_is_reported_on_request(self):
        self.assertEqual(self.succeeds(2, "leaves").stderr, "")
        for places in PLACES:
            text = self.succeeds(places, "leaves", report="1").stderr
            count = max(places, 1)
            self.assertIn(f"{count} allocations of {sum(range(100, 100 + count))} bytes together have not been freed", text)
            self.assertEqual([int(n) for n in re.findall(r"bytes at 0x\w+ by place (\d)", text)], list(range(count)))
        self.assertEqual(self.succeeds(2, "adds", report="1").stderr, "")

    def test_addresses_that_are_taken_are_told(self):
        self.assertIn("cannot be mapped: File exists", self.succeeds(2, "is-taken").stdout)

    def test_a_single_place_takes_other_addresses(self):
        self.assertIn("mapped elsewhere", self.succeeds(0, "is-taken").stdout)


if __name__ == "__main__":
    unittest.main()
