# SPDX-License-Identifier: Apache-2.0
"""Programs of POSIX threads for another architecture print the same upon the C library and upon Tulle, under an emulator of one process.
What is the emulator's own fault is left out, and named: cases that fail or hang there without Tulle, and those in which qemu gives up itself, as it
does when a forked child makes a thread and the parent had several, unless tests/emulated/qemu_forks.c can be compiled for this machine.
Arguments: the program of cases; libtulle-preload, or the same program linked statically with libtulle-pthread.a; a library with an allocator that
begins before this library; the emulator's command. With --few in front of them: a few cases, of which none may be left out."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from which_cases import ONLY_SHARED

IS_FEW = sys.argv[1] == "--few"
if IS_FEW:
    del sys.argv[1]
CASES, OURS, SPINNING = (os.path.abspath(path) for path in sys.argv[1:4])
EMULATOR = [sys.argv[4], "-U", "LD_PRELOAD", *sys.argv[5:]]  # what is loaded ahead for the emulator is not for its programs
del sys.argv[1:]
IS_STATIC = ".so" not in os.path.basename(OURS)
UPON_TULLE = (*EMULATOR, OURS) if IS_STATIC else (*EMULATOR, "-E", f"LD_PRELOAD={OURS}", CASES)
PATIENCE = 90  # seconds, for what must not hang
PATIENCE_WITH_EMULATOR = 30
FEWEST = 95  # cases that qemu runs
# What an architecture has of its own: variables of threads, the ends of stacks, frames of signals, jumps, floating point, and a call as an instruction.
FEW = ["variables", "conditions", "cancels", "at_computing", "jumps_of_handlers", "floats_of_threads", "vforks"]
# Forked children make threads. Where others of the parent come and go meanwhile such a child of qemu mostly stands still for ever, also without Tulle:
# these are tried twice.
OF_FORKS = {"forks", "forks_among_others", "forks_at_begin", "forks_beside_own_stacks", "forks_with_locks", "masks_of_programs", "once_over_fork", "rules_of_fork",
            "edges_of_signals", "allocator_and_forks", "allocator_and_names", "scheduling_of_the_made",
            "shared_mutexes", "shared_conditions", "shared_rwlocks", "inheriting_mutexes",
            "posts_from_anywhere", "raises_from_anywhere", "posts_after_jumps_within", "actions_of_kernels_signals",
            "handlers_at_waits_for_children"}
# The first asks the system how much memory the process has; of the second one qemu itself refuses what points nowhere, where the kernel tells of the
# socket; in the third a signal comes which only the mask of a wait, such as ppoll, lets in: qemu does not run its handler within the wait; and for
# stacks of 64 TiB, which the last one asks for, it takes all memory of the machine.
ABOUT_THE_EMULATOR = {"memory_of_threads", "packets_to_nobody", "kills_at_other_masks", "signals_and_failures"}
if "riscv64" in os.path.basename(EMULATOR[0]):
    ABOUT_THE_EMULATOR.add("jumps_of_handlers")  # qemu-riscv64 does not block sa_mask for a handler
if "ppc64le" in os.path.basename(EMULATOR[0]):
    # Of qemu's tcgetsid the answer is what is in memory, elsewhere by chance the right one. So is the value of a signal that has none, now and then.
    ABOUT_THE_EMULATOR |= {"terminals_of_others", "senders_of_signals"}
# qemu has no preadv2 and pwritev2, for which the C library then calls preadv and pwritev; linked statically these are ours, which call the first.
STATICALLY_ABOUT_THE_EMULATOR = {"transfers"}
OF_QEMU = re.compile(r"ERROR:\S*/(plugins|accel|linux-user)/\S+: assertion failed")
# Programs of this machine, which a case starts, cannot load the library.
OF_OTHER_PROGRAMS = re.compile(r"^ERROR: ld\.so: object '\S*' from LD_PRELOAD cannot be preloaded .*\n", re.MULTILINE)
FOLDER = tempfile.TemporaryDirectory()


def mended_emulator():
    """The environment of an emulator whose forked children may make threads; this process's own, if there is none."""
    source, library = pathlib.Path(__file__).parents[2] / "emulated/qemu_forks.c", pathlib.Path(FOLDER.name) / "qemu-forks.so"
    compiler = shutil.which("cc")
    if compiler is None or subprocess.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", library], check=False).returncode != 0:
        return os.environ
    return {**os.environ, "LD_PRELOAD": str(library)}


ENVIRONMENT = mended_emulator()


def run(words, patience=PATIENCE):
    """Its end (None: it hangs), and what it has printed."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True,
                          env=ENVIRONMENT) as program:
        hangs = False
        try:
            printed, complaints = program.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            hangs = True
            os.killpg(program.pid, signal.SIGKILL)
            printed, complaints = program.communicate()
        return None if hangs else program.returncode, printed, OF_OTHER_PROGRAMS.sub("", complaints)


def both_once(name):
    """None instead of the second: the first is not what it should be, or the emulator stands still. Of what is known for that neither is run."""
    if name in ABOUT_THE_EMULATOR:
        return name, None, None
    native = run([*EMULATOR, CASES, name], PATIENCE_WITH_EMULATOR)
    ours = run([*UPON_TULLE, name]) if native[0] == 0 else None
    return name, native, None if name in OF_FORKS and ours != native else ours


def both(name):
    found = both_once(name)
    return both_once(name) if name in OF_FORKS and found[2] is None else found


class Few(unittest.TestCase):
    def test_a_few_cases(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, native, ours in pool.map(both, FEW):
                with self.subTest(case=name):
                    self.assertEqual(native[0], 0, native)
                    self.assertNotEqual(native[1], "")
                    self.assertEqual(ours, native)


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
    unittest.main(defaultTest="Few" if IS_FEW else "Conformance")
