# SPDX-License-Identifier: Apache-2.0
"""scripts/whole: what it says of programs that are sound, fail, die and hang, and how it starts them. A shell script stands in for a program."""
import os
import re
import stat
import subprocess
import tempfile
import time
import unittest

import planted

# Has two tests that run and one that does not; notes how it was started, and does what the test of this file wants.
PROGRAM = """#!/bin/sh
case "$*" in *--gtest_list_tests*) printf 'suite.\\n  one\\n  two  # GetParam() = 2\\n  DISABLED_three\\n'; exit ;; esac
echo "$* cpus $(nproc)" >> "%(folder)s/starts"
echo '[ RUN      ] suite.one'
echo '[       OK ] suite.one (0 ms)'
echo '[ RUN      ] suite.two'
%(does)s
echo '[       OK ] suite.two (0 ms)'
"""
FAILS = """echo 'file.cpp:7: Failure'
echo 'Expected: this'
echo '[  FAILED  ] suite.two (0 ms)'
exit 1"""


class Whole(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def whole(self, *words, does=":", **variables):
        program = os.path.join(self.folder, "program")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM % {"folder": self.folder, "does": does})
        os.chmod(program, stat.S_IRWXU)
        kept = {name: value for name, value in os.environ.items() if name != "TULLE_TEST_SEED"}
        return subprocess.run([planted.PROJECT / "scripts/whole", program, *words], capture_output=True, text=True, timeout=100, check=False,
                              env={**kept, **variables})

    def starts(self):
        with open(os.path.join(self.folder, "starts"), encoding="utf-8") as file:
            return file.read().splitlines()

    def test_each_way(self):
        done = self.whole("--seed", "41", "--seeds", "2")
        self.assertEqual(done.returncode, 0, done)
        all_cpus = len(os.sched_getaffinity(0))
        shuffled = "--gtest_shuffle --gtest_random_seed="
        self.assertEqual(self.starts(), [f" cpus {all_cpus}", f"{shuffled}42 cpus {all_cpus}", f"{shuffled}43 cpus {all_cpus}", f"{shuffled}42 cpus 1",
                                         f"{shuffled}42 cpus {all_cpus}", f"--gtest_filter=suite.one cpus {all_cpus}",
                                         f"--gtest_filter=suite.two cpus {all_cpus}"])
        self.assertIn("whole: all 7 runs passed\n", done.stdout)

    def test_seed_is_printed_and_taken_from_the_environment(self):
        self.assertIn("whole: TULLE_TEST_SEED=77\n", self.whole("--ways", "shuffled", "--seeds", "1", TULLE_TEST_SEED="77").stdout)
        self.assertRegex(self.whole("--ways", "shuffled", "--seeds", "1").stdout, r"whole: TULLE_TEST_SEED=\d+\n")

    def test_a_failure_is_shown_with_the_command_that_repeats_it(self):
        done = self.whole("--ways", "one-cpu", "--seed", "4", does=FAILS)
        self.assertEqual(done.returncode, 1)
        self.assertIn("whole: program one-cpu: ended with 1; failed: suite.two\n", done.stdout)
        self.assertRegex(done.stdout, r"whole: repeat with  TULLE_TEST_SEED=4 taskset -c 0 \S+/program --gtest_shuffle --gtest_random_seed=5\n")
        self.assertIn("file.cpp:7: Failure\nExpected: this\n", done.stdout)
        self.assertIn("whole: 1 of 1 runs failed\n", done.stdout)

    def test_a_program_that_dies(self):
        done = self.whole("--ways", "whole", does="kill -SEGV $$")
        self.assertEqual(done.returncode, 1)
        self.assertIn("whole: program whole: died by signal 11 (SIGSEGV); failed: suite.two\n", done.stdout)

    def test_a_program_that_hangs(self):
        begin = time.monotonic()
        done = self.whole("--ways", "whole", "--patience", "1", does="sleep 1000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("whole: program whole: hangs: nothing new for 1 s; failed: suite.two\n", done.stdout)
        self.assertLess(time.monotonic() - begin, 90)

    def test_busy_processes_are_beside_it(self):
        self.whole("--ways", "busy", does=f"cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'while :; do :; done' >> {self.folder}/busy")
        with open(os.path.join(self.folder, "busy"), encoding="utf-8") as file:
            self.assertGreaterEqual(len(file.read().splitlines()), len(os.sched_getaffinity(0)))

    def test_wrong_usage(self):
        done = self.whole("--ways", "sideways")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no way 'sideways'", done.stderr)
        missing = subprocess.run([planted.PROJECT / "scripts/whole", "--build", self.folder, "unit"], capture_output=True, text=True, check=False)
        self.assertEqual(missing.returncode, 2)
        self.assertTrue(re.search("unit is not there: build it first", missing.stderr), missing.stderr)


planted.main()
