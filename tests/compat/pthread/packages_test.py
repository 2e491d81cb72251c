# SPDX-License-Identifier: Apache-2.0
"""Packaged programs with threads do the same upon libtulle-preload. Those that are not installed are skipped. Argument: the program `tulle`."""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

TULLE = os.path.abspath(sys.argv.pop(1))
WAY = (TULLE, "run", "--pthreads")
PYTHON = "/usr/bin/python3"

PYTHON_PROGRAM = """
import os, queue, socket, subprocess, threading, time
results, lock, total = queue.Queue(), threading.Lock(), [0]
def transfer(size):
    one, other = socket.socketpair()
    one.sendall(b'x' * size)
    one.close()
    got = b''
    while part := other.recv(100):
        got += part
    other.close()
    with lock:
        total[0] += len(got)
    results.put(size)
threads = [threading.Thread(target=transfer, args=(size,)) for size in range(1000)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(total[0], results.qsize(), threading.active_count())
ends = os.pipe()
reader = threading.Thread(target=lambda: print(os.read(ends[0], 10)))
reader.start()
time.sleep(0.05)
os.write(ends[1], b'written')
reader.join()
child = threading.Thread(target=lambda: print(subprocess.run(['echo', 'child'], capture_output=True).stdout))
child.start()
child.join()
condition = threading.Condition()
with condition: print(condition.wait(0.05))
"""


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.data = os.path.join(cls.folder.name, "data")
        source = random.Random(1)
        words = [f"{source.getrandbits(20):x}" for _ in range(20000)]
        with open(cls.data, "w", encoding="ascii") as file:
            for _ in range(500000):
                file.write(source.choice(words) + "\n")

    def run_both(self, *words, data=None):
        native, ours = (subprocess.run([*way, *words], input=data, capture_output=True, timeout=60) for way in ((), WAY))
        self.assertEqual(native.returncode, 0, native.stderr)
        self.assertEqual((ours.returncode, ours.stderr), (native.returncode, native.stderr))
        self.assertEqual(ours.stdout, native.stdout)
        return ours.stdout

    @needs("pigz")
    def test_pigz(self):
        self.run_both("pigz", "-d", "-c", data=self.run_both("pigz", "-p4", "-c", self.data))

    @needs("pbzip2")
    def test_pbzip2(self):
        self.run_both("pbzip2", "-d", "-c", "-p4", data=self.run_both("pbzip2", "-p4", "-c", self.data))

    @needs("xz")
    def test_xz(self):
        self.run_both("xz", "-T4", "-0", "-c", self.data)

    @needs("sort")
    def test_sort(self):
        self.run_both("sort", "--parallel=4", "-S", "5M", self.data)

    @needs(PYTHON)
    def test_python(self):
        said = self.run_both(PYTHON, "-c", PYTHON_PROGRAM)
        self.assertEqual(said.splitlines(), [b"499500 1000 1", b"b'written'", b"b'child\\n'", b"False"])


if __name__ == "__main__":
    unittest.main()
