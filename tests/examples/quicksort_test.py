#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quicksort sorts, whatever the length, the grain and the workers."""
import os
import random
import sys

sys.dont_write_bytecode = True
from example_program import ProgramTest, main, program_test  # noqa: E402

program_test("quicksort")
SEED = int(os.environ.get("TULLE_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
print(f"quicksort_test: seed {SEED} (set TULLE_TEST_SEED to repeat)")


class Quicksort(ProgramTest):
    def test_common_options(self):
        self.checks_common_options()

    def test_any_length(self):
        rng = random.Random(SEED)
        for n in [1, 2, 3, 23, 24, 25, 26, 199, 200, 201, 1000, 1001] + [rng.randrange(1, 100000) for _ in range(5)]:
            self.contest_rows(n, "--seed", SEED)

    def test_any_grain_and_workers(self):
        for grain in (1, 30, 100000):
            for workers in (1, 2, 4):
                self.contest_rows(30000, "--grain", grain, "--workers", workers, "--seed", SEED)

    def test_bad_input(self):
        for bad in ("0", "-5", "many", "99999999999999"):
            self.fails(bad)
        self.fails("10", "--grain", "0", message=b"--grain")


if __name__ == "__main__":
    main()
