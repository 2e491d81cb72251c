# SPDX-License-Identifier: Apache-2.0
"""Programs that are linked statically with libtulle-pthread.a print what they print upon the C library.
Arguments: the program of cases, the same linked statically."""
import os
import signal
import subprocess
import sys
import unittest

from which_cases import ONLY_SHARED

NATIVE, STATIC = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
PATIENCE = 60  # seconds, for what must not hang


def run(*words, **variables):
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **variables})


class Static(unittest.TestCase):
    def compare(self, names, **variables):
        for name in names:
            with self.subTest(case=name, **variables):
                native, ours = run(NATIVE, name), run(STATIC, name, **variables)
                self.assertEqual(native.returncode, 0, native)
                self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (native.returncode, native.stdout, native.stderr))

    def test_all_cases(self):
        names = [name for name in run(STATIC).stdout.split() if name not in ONLY_SHARED]
        self.assertGreater(len(names), 40)
        self.compare(names)

    def test_calls_block_their_thread_only(self):
        self.compare(["blocking_calls", "file_locks", "queues", "transfers", "c11_threads"], TULLE_WORKERS="1", TULLE_MAX_SUBSTITUTES="0")

    def test_threads_are_few_os_threads(self):
        with subprocess.Popen([STATIC, "hold"], stdout=subprocess.PIPE, text=True) as program:
            self.addCleanup(program.kill)
            self.assertEqual(program.stdout.readline(), "waiting\n")
            self.assertLess(len(os.listdir(f"/proc/{program.pid}/task")), 100)
            program.send_signal(signal.SIGTERM)
            self.assertEqual(program.wait(timeout=PATIENCE), -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
