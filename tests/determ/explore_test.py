# SPDX-License-Identifier: Apache-2.0
"""`tulle run --seed` and `--explore`: the planted errors are found within SEEDS seeds, their repairs pass all of them, a failure is reported
with the command that repeats it, and different seeds give different orders. Arguments: the program `tulle`, the folder of the programs."""
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FOLDER = os.path.abspath(sys.argv.pop())
PROGRAM = os.path.abspath(sys.argv.pop())
SEEDS = 200


def run(*words, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    return subprocess.run(words, capture_output=True, text=True, timeout=300, env={**kept, **variables})


def explore(count, *words):
    return run(PROGRAM, "run", "--explore", str(count), "--", *words)


def built(name):
    return os.path.join(FOLDER, name)


class Planted(unittest.TestCase):
    def check(self, name, complaint):
        found = explore(SEEDS, built(name), "planted")
        self.assertEqual(found.returncode, 1, found)
        self.assertIn(complaint, found.stderr)
        seed = int(re.search(r"tulle: seed (\d+) failed", found.stderr).group(1))
        self.assertLessEqual(seed, SEEDS)
        command = shlex.split(found.stderr.splitlines()[-1])
        self.assertEqual(command, ["tulle", "run", "--seed", str(seed), "--", built(name), "planted"])
        for _ in range(3):
            again = run(PROGRAM, *command[1:])
            self.assertNotEqual(again.returncode, 0)
            self.assertIn(complaint, again.stdout + again.stderr)
        mended = explore(SEEDS, built(name), "mended")
        self.assertEqual(mended.returncode, 0, mended)
        self.assertEqual(mended.stdout, "")
        self.assertIn(f"seeds 1 to {SEEDS} passed", mended.stderr)

    def test_lost_wake_up(self):
        self.check("lost_wake_up", "nothing is left that could wake one")

    def test_aba(self):
        self.check("aba", "two owners")

    def test_missed_unlock(self):
        self.check("missed_unlock", "nothing is left that could wake one")


class Orders(unittest.TestCase):
    def order(self, seed):
        done = run(PROGRAM, "run", "--seed", str(seed), built("orders"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_a_seed_repeats_and_seeds_differ(self):
        orders = [self.order(seed) for seed in range(1, 101)]
        self.assertEqual([self.order(seed) for seed in range(1, 21)], orders[:20])
        self.assertGreaterEqual(len(set(orders)), 30)

    def test_the_variable_does_the_same(self):
        for seed in range(1, 6):
            self.assertEqual(run(built("orders"), TULLE_SEED=str(seed)).stdout, self.order(seed))


class Report(unittest.TestCase):
    def test_output_and_reason(self):
        done = explore(3, "sh", "-c", 'echo "seed $TULLE_SEED"; echo oops >&2; test $TULLE_SEED != 2')
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("tulle: seed 2 failed: exit code 1\n--- its output\nseed 2\noops\n--- to repeat it:\n", done.stderr)
        again = run(PROGRAM, *shlex.split(done.stderr.splitlines()[-1])[1:])
        self.assertEqual((again.returncode, again.stdout, again.stderr), (1, "seed 2\n", "oops\n"))

    def test_a_signal_and_a_time_out_are_failures(self):
        self.assertIn("seed 1 failed: ended by signal 15", explore(3, "sh", "-c", "kill -TERM $$").stderr)
        done = run(PROGRAM, "run", "--explore", "3", "--time-limit", "1", "sleep", "60")
        self.assertEqual(done.returncode, 1)
        self.assertIn("seed 1 failed: took too long", done.stderr)

    def test_what_a_run_leaves_behind_is_not_waited_for(self):
        for code, sentence in ((0, "tulle: seeds 1 to 2 passed\n"), (3, "tulle: seed 1 failed: exit code 3\n--- its output\nleft\n")):
            with tempfile.TemporaryDirectory() as folder:
                fifo = os.path.join(folder, "fifo")
                os.mkfifo(fifo)
                done = explore(2, "sh", "-c", f"cat {fifo} & echo left; exit {code}")
                self.assertTrue(done.stderr.startswith(sentence), done.stderr)
                with open(fifo, "w", encoding="ascii"):  # those who wait for it end
                    pass

    def test_of_very_much_output_the_middle_is_left_out(self):
        done = explore(1, "sh", "-c", "echo begin; head -c 9000000 /dev/zero | tr '\\0' x; echo end; exit 1")
        self.assertRegex(done.stderr, r"--- its output\nbegin\nx+\n\.\.\. \d+ bytes are left out here \.\.\.\nx+end\n")
        self.assertLess(len(done.stderr), 5_000_000)

    def test_a_signal_ends_the_run_as_well(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            words = [PROGRAM, "run", "--explore", "3", "--", "sh", "-c", "echo $$ > $0; sleep 300 & wait"]
            with tempfile.NamedTemporaryFile("r") as told:
                process = subprocess.Popen([*words, told.name], stderr=subprocess.DEVNULL)
                while not (number_of_program := told.read().strip()):
                    time.sleep(0.01)
                process.send_signal(number)
                self.assertEqual(process.wait(30), -number)
                self.assertFalse(os.path.exists(f"/proc/{number_of_program}"))

    def test_the_command_has_all_options(self):
        done = run(PROGRAM, "run", "--explore", "1", "--share-cpus", "--share-globals", "--io", "0", "false")
        self.assertRegex(done.stderr, r"tulle run --seed 1 --share-cpus --share-globals --io 0 -- false\n\Z")

    def test_the_first_seed_and_other_options_are_kept(self):
        done = run(PROGRAM, "run", "--seed", "7", "--explore", "5", "--stack-size", "64K", "--set", "spin_us=3", "--", "sh", "-c",
                   "test $TULLE_SEED -lt 9 && test $TULLE_STACK_SIZE = 64K")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.splitlines()[-1].startswith("tulle run --seed 9 --stack-size 64K --set spin_us=3 -- sh -c "), done)

    def test_progress(self):
        done = explore(20, "true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("tulle: 10 of 20 seeds passed\n", done.stderr)
        self.assertTrue(done.stderr.endswith("tulle: seeds 1 to 20 passed\n"))

    def test_the_last_seed(self):
        done = run(PROGRAM, "run", "--seed", "18446744073709551615", "--explore", "1", "true")
        self.assertEqual((done.returncode, done.stderr), (0, "tulle: seeds 18446744073709551615 to 18446744073709551615 passed\n"))

    def test_a_program_that_cannot_be_run(self):
        self.assertEqual(explore(3, "/nowhere/to/be/found").returncode, 127)
        self.assertEqual(explore(3, "nowhere-to-be-found").returncode, 127)
        self.assertEqual(explore(3, "/").returncode, 126)

    def test_wrong_usage(self):
        for words in (["--explore", "0"], ["--explore", "x"], ["--explore", "-1"], ["--seed", "x"], ["--time-limit", "0"],
                      ["--seed", "18446744073709551615", "--explore", "2"]):
            done = run(PROGRAM, "run", *words, "true")
            self.assertEqual(done.returncode, 2, words)
            self.assertTrue(done.stderr.startswith("tulle: "), done)


if __name__ == "__main__":
    unittest.main()
