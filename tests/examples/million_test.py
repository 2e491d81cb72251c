#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""million blocks and releases as many threads as it is told to."""
import sys

sys.dont_write_bytecode = True
from example_program import ProgramTest, main, program_test  # noqa: E402

program_test("million")


class Million(ProgramTest):
    def test_common_options(self):
        self.checks_common_options()

    def test_any_number(self):
        for n in (1, 2, 511, 513, 20000):
            for workers in (1, 2, 4):
                self.contest_rows("--threads", n, "--workers", workers, "--no-peers")

    def test_compact(self):
        rows = self.contest_rows("--threads", 20000, "--compact", "--no-peers")
        self.assertIn("compact", rows[0][1])

    def test_beside_threads_of_the_system(self):
        rows = self.contest_rows("--threads", 100)
        self.assertIn("100 std::thread, resident", [row[2] for row in rows])

    def test_bad_input(self):
        for bad in ("0", "-1", "lots"):
            self.fails("--threads", bad, message=b"--threads")


if __name__ == "__main__":
    main()
