#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nqueens finds the published counts, however many rows it counts without threads."""
import sys

sys.dont_write_bytecode = True
from example_program import ProgramTest, main, program_test  # noqa: E402

program_test("nqueens")


class Nqueens(ProgramTest):
    def test_common_options(self):
        self.checks_common_options()

    def test_every_small_board(self):
        for n in range(1, 12):
            self.contest_rows(n)

    def test_thread_for_every_square(self):
        for workers in (1, 2, 4):
            self.contest_rows(9, "--serial-rows", 0, "--workers", workers)

    def test_bad_input(self):
        for bad in ("0", "19", "-4", "eight"):
            self.fails(bad)
        self.fails("8", "--serial-rows", "-1", message=b"--serial-rows")


if __name__ == "__main__":
    main()
