#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fibonacci computes the right number on any number of workers."""
import sys

sys.dont_write_bytecode = True
from example_program import ProgramTest, main, program_test  # noqa: E402

program_test("fibonacci")


class Fibonacci(ProgramTest):
    def test_common_options(self):
        self.checks_common_options()

    def test_right_on_any_workers(self):
        for workers in (1, 2, 4):
            for n in (0, 1, 2, 25):
                self.contest_rows(n, "--workers", workers)

    def test_counts_its_spawns(self):
        self.assertIn("fib(10), 88 spawns", self.contest_rows(10, "--no-peers")[0][1])

    def test_table_says_ok(self):
        self.assertRegex(self.succeeds(20, "--runs", 3), rb"check +ok")

    def test_bad_input(self):
        for bad in ("-1", "61", "ten", "1.5"):
            self.fails(bad)
        self.fails("20", "--runs", "0", message=b"--runs")


if __name__ == "__main__":
    main()
