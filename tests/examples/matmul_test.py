#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""matmul multiplies matrices of any size, those that fit no block included."""
import sys

sys.dont_write_bytecode = True
from example_program import ProgramTest, main, program_test  # noqa: E402

program_test("matmul")


class Matmul(ProgramTest):
    def test_common_options(self):
        self.checks_common_options()

    def test_any_size(self):
        for n in (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 64, 65, 100, 129, 257):
            self.contest_rows(n)

    def test_any_leaf_and_workers(self):
        for leaf in (16, 17, 100, 4096):
            for workers in (1, 2, 4):
                self.contest_rows(150, "--leaf", leaf, "--workers", workers)

    def test_bad_input(self):
        for bad in ("0", "-1", "20001", "big"):
            self.fails(bad)
        self.fails("10", "--leaf", "8", message=b"--leaf")


if __name__ == "__main__":
    main()
