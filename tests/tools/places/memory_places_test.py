# SPDX-License-Identifier: Apache-2.0
"""`tulle run --memory-places`: processes that have memory and run no threads. Arguments: the paths of the programs `tulle` and `lend`."""
import os
import subprocess
import sys
import unittest

LEND = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())


def run(how, places, memory, *options, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    wanted = ["--memory-places", str(memory)] if memory is not None else []
    return subprocess.run([TULLE, "run", "-n", str(places), *wanted, *options, "--", LEND, how], capture_output=True, text=True, timeout=100,
                          check=False, env={**kept, **variables})


class MemoryPlaces(unittest.TestCase):
    def succeeds(self, *words, **variables):
        done = run(*words, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def test_they_are_the_last_ones(self):
        self.assertEqual(self.succeeds("counts", 5, 2), "3 and 2\n")
        self.assertEqual(self.succeeds("counts", 5, None), "5 and 0\n")
        self.assertEqual(self.succeeds("counts", 5, None, TULLE_MEMORY_PLACES="4"), "1 and 4\n")

    def test_the_others_use_their_memory(self):
        for places, memory in ((2, 1), (4, 1), (5, 3)):
            self.succeeds("keeps", places, memory)

    def test_words_there_pass_values_on(self):
        for places, memory in ((2, 1), (4, 2)):
            self.succeeds("hands-over", places, memory)

    def test_work_that_may_run_anywhere_does_not_run_there(self):
        for places, memory in ((3, 2), (4, 1)):
            self.succeeds("spreads", places, memory)

    def test_what_would_run_there_is_refused_with_what_to_do(self):
        text = self.succeeds("refuses", 4, 2)
        self.assertIn("place 2 has memory and runs no threads (memory_places)", text)
        self.assertIn("start it at one of the places 0 to 1", text)
        self.assertIn("at is refused", text)
        self.assertNotIn("it runs", text)

    def test_main_goes_on_at_place_0_only_and_all_end(self):
        lines = sorted(self.succeeds("begins", 3, 2, "--no-tags").splitlines())
        self.assertEqual(lines, ["begins"] * 3 + ["goes on"])

    def test_place_0_runs_main(self):
        for places, memory in ((1, 1), (2, 2), (2, 9)):
            done = run("counts", places, memory)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"run: place 0 runs main: of {places} places at most {places - 1} can have memory only", done.stderr)
        self.assertEqual(run("counts", 2, "some").returncode, 2)
        self.assertEqual(run("counts", 2, "-1").returncode, 2)

    def test_places_that_find_out_late_say_so(self):
        # The option of the places, not of the launcher: they find out.
        done = subprocess.run([TULLE, "run", "-n", "2", "--", "env", "TULLE_MEMORY_PLACES=2", LEND, "counts"], capture_output=True, text=True,
                              timeout=100, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("memory_places is 2, and there are 2 places: place 0 runs main", done.stderr)

    def test_without_places_there_are_none(self):
        done = subprocess.run([TULLE, "run", "--memory-places", "1", "--", LEND, "counts"], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--memory-places requires --places or --hosts", done.stderr)
        alone = subprocess.run([LEND, "counts"], capture_output=True, text=True, timeout=100, check=False,
                               env={**os.environ, "TULLE_MEMORY_PLACES": "3"})
        self.assertEqual((alone.returncode, alone.stdout), (0, "1 and 0\n"))


if __name__ == "__main__":
    unittest.main()
