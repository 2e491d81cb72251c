#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of TULLE_EXPLAIN=1. Argument: the path of the program whose threads keep a worker; EMULATOR in the environment is what runs it,
words separated by ";"."""
import os
import re
import subprocess
import sys
import unittest

EMULATOR = os.environ.get("EMULATOR")
PROGRAM = sys.argv[1]
del sys.argv[1:]
HEAD = r"tulle: what kept workers from their threads, for 1 ms or more in the kernel or 10 ms computing \(process \d+\)\n +times +ms +longest\n"
IN_KERNEL = r"in (clock_nanosleep|nanosleep|a call that the system does not tell)"  # some kernels keep it to themselves


def run(*words, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    command = [*EMULATOR.split(";"), PROGRAM, *words] if EMULATOR else [PROGRAM, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False,
                          env={**kept, "TULLE_WORKERS": "2", "TULLE_EXPLAIN": "1", **variables})


class Table(unittest.TestCase):
    def table(self, *words, **variables):
        done = run(*words, **variables)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done)
        self.assertRegex(done.stderr, r"\A" + HEAD)
        self.assertEqual(len(re.findall(HEAD, done.stderr)), 1)
        return re.sub(HEAD, "", done.stderr)

    def rows(self, what, *words):
        """(times, ms, longest) of the row."""
        text = self.table(*words)
        found = re.search(rf"(?m)^ *(\d+) +([\d.]+) +([\d.]+)  {what}$", text)
        self.assertIsNotNone(found, text)
        return int(found[1]), float(found[2]), float(found[3])

    def test_a_call_that_blocks(self):
        for at_end in ((), ("finalize",)):  # a program may end in either way
            times, ms, longest = self.rows(IN_KERNEL, "sleep", *at_end)
            self.assertGreaterEqual(times, 1)
            self.assertGreaterEqual(ms, 100)
            self.assertLessEqual(longest, ms)

    def test_computing(self):
        times, ms, _ = self.rows("computing, without a wait", "compute")
        self.assertGreaterEqual(times, 1)
        self.assertGreaterEqual(ms, 10)

    def test_waits_of_the_library_keep_nobody(self):
        self.assertNotRegex(self.table("wait"), IN_KERNEL)

    def test_without_a_watcher_nothing_is_known(self):
        self.assertEqual(self.table("sleep", TULLE_MAX_SUBSTITUTES="off"), "not known: the option max_substitutes is off, so nobody looks\n")

    def test_nobody_is_told_who_has_not_asked(self):
        self.assertEqual(run("sleep", TULLE_EXPLAIN="0").stderr, "")


unittest.main()
