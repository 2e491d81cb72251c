# SPDX-License-Identifier: Apache-2.0
"""Programs of POSIX threads for another architecture print the same upon the C library and upon Tulle, under an emulator of one process.
What is the emulator's own fault is left out, and named: cases that fail or hang there without Tulle, and those in which qemu gives up itself, as it
does when a forked child makes a thread and the parent had several.
Arguments: the program of cases; libtulle-preload, or the same program linked statically with libtulle-pthread.a; a library with an allocator that
begins before this library; the emulator's command."""
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import unittest

from which_cases import ONLY_SHARED

CASES, OURS, SPINNING = (os.path.abspath(path) for path in sys.argv[1:4])
EMULATOR = sys.argv[4:]
del sys.argv[1:]
IS_STATIC = ".so" not in os.path.basename(OURS)
UPON_TULLE = (*EMULATOR, OURS) if IS_STATIC else (*EMULATOR, "-E", f"LD_PRELOAD={OURS}", CASES)
PATIENCE = 90  # seconds, for what must not hang
PATIENCE_WITH_EMULATOR = 30
FEWEST = 70  # cases that qemu runs
ABOUT_THE_EMULATOR = {"memory_of_threads"}  # it asks the system how much memory the process has
if "riscv64" in os.path.basename(EMULATOR[0]):
    ABOUT_THE_EMULATOR.add("jumps_of_handlers")  # qemu-riscv64 does not block sa_mask for a handler
# qemu has no preadv2 and pwritev2, for which the C library then calls preadv and pwritev; linked statically these are ours, which call the first.
STATICALLY_ABOUT_THE_EMULATOR = {"transfers"}
OF_QEMU = re.compile(r"ERROR:\S*/(plugins|accel|linux-user)/\S+: assertion failed")
# Programs of this machine, which a case starts, cannot load the library.
OF_OTHER_PROGRAMS = re.compile(r"^ERROR: ld\.so: object '\S*' from LD_PRELOAD cannot be preloaded .*\n", re.MULTILINE)


def run(words, patience=PATIENCE):
    """Its end (None: it hangs), and what it has printed."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as program:
        hangs = False
        try:
            printed, complaints = program.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            hangs = True
            os.killpg(program.pid, signal.SIGKILL)
            printed, complaints = program.communicate()
        return None if hangs else program.returncode, printed, OF_OTHER_PROGRAMS.sub("", complaints)


def both(name):
    """None instead of the second: the first is not what it should be."""
    native = run([*EMULATOR, CASES, name], PATIENCE_WITH_EMULATOR)
    return name, native, run([*UPON_TULLE, name]) if native[0] == 0 and name not in ABOUT_THE_EMULATOR else None


class Conformance(unittest.TestCase):
    def test_all_cases(self):
        beyond = ONLY_SHARED | STATICALLY_ABOUT_THE_EMULATOR if IS_STATIC else set()
        names = [name for name in run(UPON_TULLE)[1].split() if name not in beyond]
        left_out = []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, native, ours in pool.map(both, names):
                if ours is None or OF_QEMU.search("".join(ours[1:])):
                    left_out.append(name)
                    continue
                with self.subTest(case=name):
                    self.assertNotEqual(native[1], "")
                    self.assertEqual(ours, native)
        print("left out:", *left_out)
        self.assertGreaterEqual(len(names) - len(left_out), FEWEST)

    @unittest.skipIf(IS_STATIC, "has its allocator in itself")
    def test_an_allocator_may_begin_before_this_one_is_ready(self):
        """It holds a lock when it registers handlers of forks, and may not be called meanwhile."""
        native = run([*EMULATOR, "-E", f"LD_PRELOAD={SPINNING}", CASES, "conditions"])
        self.assertTrue(native[1].startswith("memory before main\n"), native)
        self.assertEqual(run([*EMULATOR, "-E", f"LD_PRELOAD={OURS}:{SPINNING}", CASES, "conditions"]), native)

    def test_threads_are_few_os_threads(self):
        with subprocess.Popen([*UPON_TULLE, "hold"], stdout=subprocess.PIPE, text=True) as program:
            self.addCleanup(program.kill)
            self.assertEqual(program.stdout.readline(), "waiting\n")
            self.assertLess(len(os.listdir(f"/proc/{program.pid}/task")), 100)
            program.kill()


if __name__ == "__main__":
    unittest.main()
