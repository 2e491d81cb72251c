#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""uts counts as many nodes as were published for its trees."""
import sys

sys.dont_write_bytecode = True
from example_program import ProgramTest, main, program_test  # noqa: E402

program_test("uts")


class Uts(ProgramTest):
    def test_common_options(self):
        self.checks_common_options()

    def test_published_counts(self):
        for tree, nodes, depth in (("T1", 4130071, 10), ("T3", 4112897, 1572)):
            for workers in (1, 2, 4):
                rows = self.contest_rows(tree, "--workers", workers, "--no-peers")
                self.assertEqual(rows[0][1], f"{tree}, {nodes} nodes, depth {depth}")

    def test_peers_agree(self):
        self.contest_rows("T1")

    def test_bad_input(self):
        for bad in ("T2", "t1", "1", ""):
            self.fails(bad, message=b"tree")


if __name__ == "__main__":
    main()
