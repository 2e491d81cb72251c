# SPDX-License-Identifier: Apache-2.0
"""The table of TULLE_STACK_REPORT=1. Argument: the path of the program whose threads use their stacks; EMULATOR in the environment is what
runs it, words separated by ";"."""
import os
import re
import signal
import subprocess
import sys
import unittest

EMULATOR = os.environ.get("EMULATOR")
PROGRAM = sys.argv[1]
del sys.argv[1:]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stack_use.cpp")
HEAD = r"tulle: bytes of stack that threads have used, deepest first \(process \d+\)\n"
SANITIZER = subprocess.run([PROGRAM, "sanitizer"], capture_output=True, text=True, check=True).stdout.strip()
MOST_OVERHEAD = 32768 if SANITIZER else 8192  # the frames below and above, the library's included


def run(way, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    command = [*EMULATOR.split(";"), PROGRAM, way] if EMULATOR else [PROGRAM, way]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False,
                          env={**kept, "TULLE_WORKERS": "2", "TULLE_STACK_REPORT": "1", **variables})


def line_of(mark):
    with open(SOURCE, encoding="utf-8") as source:
        return next(number for number, content in enumerate(source, 1) if f"line: {mark}" in content)


def rows_of(text):
    """Of one table: (most, mean, threads, size, enough, where)."""
    return [(*(int(word) for word in row[:5]), row[5])
            for row in re.findall(r"(?m)^ *(\d+) +(\d+) +(\d+) +(\d+) +(\d+)  (\S.*)$", text)]


class Table(unittest.TestCase):
    def rows(self, way, code=0, **variables):
        done = run(way, **variables)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done)
        self.assertRegex(done.stderr, r"\A" + HEAD + r" +most +mean +threads +stack_size +enough\n")
        self.assertEqual(len(re.findall(HEAD, done.stderr)), 1)
        return rows_of(done.stderr)

    def check(self, used, least):
        self.assertGreaterEqual(used, least)
        self.assertLessEqual(used, least + MOST_OVERHEAD)

    def test_two_sites_deepest_first(self):
        deep, shallow = self.rows("two_sites")
        for row, mark, least, threads in ((deep, "deep", 100_000, 1), (shallow, "shallow", 20_000, 2)):
            most, mean, count, size, enough, where = row
            self.check(most, least)
            self.check(mean, least)
            self.assertEqual((count, size), (threads, 262144))
            self.assertGreater(enough * 3, most * 4)
            self.assertRegex(where, rf"^spawned in .* at \S*stack_use\.cpp:{line_of(mark)}$")

    def test_what_is_enough_is_enough(self):
        enough = max(row[4] for row in self.rows("two_sites"))
        again = self.rows("two_sites", TULLE_STACK_SIZE=str(enough))
        self.assertEqual(again[0][3], enough)

    def test_a_thousand_threads_are_one_row(self):
        (most, mean, count, _, _, where), = self.rows("thousand")
        self.check(most, 50_000)
        self.check(mean, 10_040)
        self.assertEqual(count, 1000)
        self.assertIn(f":{line_of('thousand')}", where)

    def test_one_worker(self):
        (_, _, count, _, _, _), = self.rows("thousand", TULLE_WORKERS="1")
        self.assertEqual(count, 1000)

    def test_what_is_used_after_a_wait(self):
        self.check(self.rows("after_a_wait")[0][0], 30_000)

    def test_stolen_fork(self):
        row, = self.rows("forked")
        self.check(row[0], 40_000)
        self.assertRegex(row[5], r"^forked as \(?(?!tulle::child).*forked\(\)")

    def test_stack_of_its_own_size(self):
        row, = self.rows("own_stack")
        self.check(row[0], 600_000)
        self.assertEqual(row[3], 1 << 20)

    def test_compact_stack(self):
        row, = self.rows("compact")
        self.assertIn(row[3], (1024, 16384))  # as the build of the library allows
        self.assertLessEqual(row[0], row[3])

    def test_deterministic_run(self):
        self.assertEqual(len(self.rows("two_sites", TULLE_SEED="7")), 2)

    def test_a_table_for_each_life(self):
        first, second = run("twice").stderr.split("between\n")
        self.assertEqual([len(rows_of(text)) for text in (first, second)], [1, 1])
        self.check(rows_of(first)[0][0], 100_000)
        self.check(rows_of(second)[0][0], 20_000)

    def test_exit_from_a_thread_with_a_small_stack(self):
        self.assertEqual(len(self.rows("exit_from_thread", code=3)), 1)

    @unittest.skipIf(SANITIZER == "ThreadSanitizer", "it allows no threads after a fork")
    def test_a_child_process_has_its_own(self):
        # One OS thread, so no watcher: AddressSanitizer's allocator may stay locked in the child by another one, which has just started in the parent.
        done = run("child_process", TULLE_WORKERS="1", TULLE_MAX_SUBSTITUTES="off")
        child, parent = re.split(HEAD, done.stderr)[1:]
        self.check(rows_of(child)[0][0], 20_000)
        self.check(rows_of(parent)[0][0], 100_000)
        self.assertEqual([len(rows_of(text)) for text in (child, parent)], [1, 1])

    def test_no_threads(self):
        self.assertRegex(run("nothing").stderr, r"\A" + HEAD + "no thread has begun on a stack of its own\n\\Z")

    def test_off(self):
        for value in ("0", None):
            variables = {} if value is None else {"TULLE_STACK_REPORT": value}
            kept = {name: text for name, text in os.environ.items() if not name.startswith("TULLE_")}
            done = subprocess.run([*(EMULATOR.split(";") if EMULATOR else []), PROGRAM, "two_sites"], capture_output=True, text=True, timeout=110, check=False,
                                  env={**kept, **variables})
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_value_that_makes_no_sense(self):
        self.assertIn("TULLE_STACK_REPORT", run("nothing", TULLE_STACK_REPORT="2").stderr)


class WithoutGuard(unittest.TestCase):
    def test_overflow_names_the_site(self):
        done = run("beyond", TULLE_GUARD="none")
        self.assertEqual(done.returncode, -signal.SIGABRT, done)
        self.assertRegex(done.stderr, r"\Atulle: thread \d+ overflowed its stack of 65536 bytes, which has no guard; give it 131072 or more")
        self.assertRegex(done.stderr, rf"(?m)^    spawned in .* at \S*stack_use\.cpp:{line_of('beyond')}$")


unittest.main()
