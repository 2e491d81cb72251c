# SPDX-License-Identifier: Apache-2.0
"""Runs a test that is a script in Python, and prints a line for each part of it that was skipped, with the reason: unittest only counts them.
scripts/test shows these lines. Arguments: the script and its own arguments."""
import os
import re
import runpy
import sys
import unittest


class Skipped:
    """What was skipped: a class, a test or one of its subtests. A class of which nothing runs is one."""

    def __init__(self):
        self.lines = []
        original = unittest.TestResult.addSkip

        def add_skip(result, test, reason):
            self.add(test, reason)
            original(result, test, reason)

        unittest.TestResult.addSkip = add_skip

    def add(self, test, reason):
        name = test.id().replace("__main__.", "")
        of_set_up = re.fullmatch(r"setUp(?:Class|Module) \((.*)\)", name)
        if of_set_up:
            name = of_set_up[1]
        elif getattr(type(test), "__unittest_skip__", False):
            name = type(test).__name__
        line = f"{name}: {' '.join(reason.split())}"
        if line not in self.lines:
            self.lines.append(line)

    def tell(self, script):
        for line in self.lines:
            print(f"script: {script}: not run: {line}", flush=True)


def main():
    script = os.path.abspath(sys.argv[1])
    del sys.argv[0]
    sys.path[0] = os.path.dirname(script)
    skipped = Skipped()
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        skipped.tell(os.path.basename(script))


main()
