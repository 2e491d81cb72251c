# SPDX-License-Identifier: Apache-2.0
"""Real processes that wait for each other at objects of one of them. Arguments: the paths of the programs `tulle` and `meet`."""
import os
import subprocess
import sys
import unittest

MEET = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
PLACES = (0, 1, 2, 4)  # 0: without `tulle run`


class Meet(unittest.TestCase):
    def succeeds(self, places, how, **variables):
        launcher = [TULLE, "run", "-n", str(places), "--"] if places else []
        done = subprocess.run([*launcher, MEET, how], capture_output=True, text=True, timeout=100, check=False, env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, (places, how, done))
        return done

    def test_words_and_objects(self):
        for places in PLACES:
            for how in ("words", "words-in-c", "objects"):
                self.assertEqual(self.succeeds(places, how).stderr, "")

    def test_a_finish_is_cancelled(self):
        for places in PLACES:
            self.assertEqual(self.succeeds(places, "stops").stderr, "")

    def test_barriers(self):
        for places in (*PLACES, 7):
            self.assertEqual(self.succeeds(places, "barriers").stderr, "")

    def test_long_waits_take_no_processor_time(self):
        for places in (2, 4):
            medians = []
            while len(medians) < 4 and min(medians, default=100) >= 20:  # on a slow machine it takes long until they sleep
                busy = [float(line.split()[-1]) for line in self.succeeds(places, "long-wait").stdout.splitlines()]
                self.assertEqual(len(busy), places - 1)
                medians.append(sorted(busy)[len(busy) // 2])
            self.assertLess(min(medians), 20)

    def test_one_dies_before_a_barrier(self):
        for how in ("dies-looking", "dies-asleep"):
            for places in (2, 4, 7):
                told = self.succeeds(places, how, TULLE_ON_PLACE_DEATH="throw").stdout
                self.assertGreaterEqual(told.count(f"place {places - 1} is dead"), 2 * min(places - 1, 3), (how, places))

    def test_the_home_dies_while_others_wait(self):
        told = self.succeeds(4, "home-dies", TULLE_ON_PLACE_DEATH="throw").stdout
        self.assertEqual(told.count("place 3 is dead"), 5)

    def test_who_waits_and_holds_dies(self):
        told = self.succeeds(3, "waiters-die", TULLE_ON_PLACE_DEATH="throw").stdout
        self.assertEqual(told.count("place 2 is dead"), 2)


if __name__ == "__main__":
    unittest.main()
