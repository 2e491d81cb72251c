# SPDX-License-Identifier: Apache-2.0
"""A forked child does not wait for what another thread of the parent was about to make once. Arguments: the paths of the programs `tulle` and `offspring`."""
import os
import subprocess
import sys
import unittest

OFFSPRING = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())


class Offspring(unittest.TestCase):
    def test_children_work_that_are_forked_while_a_thread_works_for_the_first_time(self):
        for launcher in ((), (TULLE, "run", "-n", "2", "--")):
            with self.subTest(launcher=launcher):
                done = subprocess.run([*launcher, OFFSPRING], capture_output=True, text=True, timeout=100, check=False, env={**os.environ, "TULLE_WORKERS": "2"})
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "works: 1, good children: 12\n", ""))


if __name__ == "__main__":
    unittest.main()
