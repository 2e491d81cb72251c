# SPDX-License-Identifier: Apache-2.0
"""A CPU quota of a real control group, version 2 or 1, decides how many workers there are. Skipped where no group can be made.
Argument: the path of the program."""
import contextlib
import json
import math
import os
import subprocess
import sys
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
PERIOD = 100000  # us
CPUS = len(os.sched_getaffinity(0))


def write(path, text):
    """Into a file that is there."""
    with open(path, "r+", encoding="ascii") as file:
        file.write(text)


class Version2:
    root = "/sys/fs/cgroup"

    @staticmethod
    def limit(group, cpus):
        write(f"{group}/cpu.max", f"{round(cpus * PERIOD)} {PERIOD}")


class Version1:
    root = "/sys/fs/cgroup/cpu"

    @staticmethod
    def limit(group, cpus):
        write(f"{group}/cpu.cfs_period_us", str(PERIOD))
        write(f"{group}/cpu.cfs_quota_us", str(round(cpus * PERIOD)))


@contextlib.contextmanager
def group_of(kind, cpus):
    """The folder of a new control group with this quota. Raises OSError where that is not allowed."""
    group = f"{kind.root}/tulle-test-{os.getpid()}"
    os.mkdir(group)
    try:
        kind.limit(group, cpus)
        yield group
    finally:
        os.rmdir(group)


def info(group):
    done = subprocess.run([PROGRAM, "info", "--json"], capture_output=True, text=True, timeout=60, check=True,
                          preexec_fn=lambda: write(f"{group}/cgroup.procs", str(os.getpid())))
    return json.loads(done.stdout)


class Quota(unittest.TestCase):
    def check_quotas(self, kind):
        for cpus in (0.5, 1, 1.5, CPUS + 1):
            try:
                with group_of(kind, cpus) as group:
                    found = info(group)
            except (OSError, subprocess.SubprocessError) as error:
                self.skipTest(f"no control group can be made: {error}")
            with self.subTest(cpus=cpus):
                self.assertAlmostEqual(found["quota"], cpus, places=2)
                self.assertEqual(found["workers"], min(math.ceil(cpus), CPUS))
                self.assertGreaterEqual(found["max_workers"], CPUS)
                self.assertIn(f"a quota of {cpus:.2f} CPUs", found["machine"])

    def test_version_2(self):
        self.check_quotas(Version2)

    def test_version_1(self):
        self.check_quotas(Version1)


if __name__ == "__main__":
    unittest.main()
