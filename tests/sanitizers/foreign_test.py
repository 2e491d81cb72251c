# SPDX-License-Identifier: Apache-2.0
"""foreign_test.py SANITIZER PROGRAM...: each program has that sanitizer, and its library has none, which it says once."""
import shutil
import subprocess
import sys
import unittest

SANITIZER, *PROGRAMS = sys.argv[1:]
del sys.argv[1:]
FIXED_ADDRESSES = ["setarch", "--addr-no-randomize"] if shutil.which("setarch") else []  # without it some die at their start


class Foreign(unittest.TestCase):
    def test_is_told_what_to_do(self):
        preset = {"thread": "tsan", "address": "asan"}[SANITIZER]
        for program in PROGRAMS:
            done = subprocess.run([*FIXED_ADDRESSES, program], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done)
            self.assertEqual(done.stderr.count("tulle: "), 1, done.stderr)
            self.assertRegex(done.stderr, rf"\Atulle: warning: the program runs with {SANITIZER.capitalize()}Sanitizer, and its libtulle is built without: .*"
                                          rf"-DTULLE_SANITIZE={SANITIZER} \(cmake --preset {preset}, or clang-{preset}\)\n\Z")


unittest.main()
