# SPDX-License-Identifier: Apache-2.0
"""What tests of places over an MPI share: the programs, which the arguments of the test name (the path of the program `tulle`, the folder of the
programs `conduct`, `work` and `contract`, the mpirun), and how they are run."""
import os
import re
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import mpi  # noqa: E402
from processes import MARK, processes  # noqa: E402

MPIRUN = sys.argv.pop()
FOLDER = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
FILES = os.path.join(os.path.dirname(FOLDER), "test.compat.tnt.c.files")
CONDUCT, WORK, CONTRACT = (os.path.join(FOLDER, name) for name in ("conduct", "work", "contract"))
OPEN_MPI = mpi.is_open_mpi(MPIRUN)
FLAVOUR = "openmpi" if OPEN_MPI else "mpich"
SURVIVES = mpi.survives_deaths(MPIRUN)
BUILT_BENCH = os.path.join(os.path.dirname(os.path.dirname(TULLE)), "libexec", "tulle", "bench-tulle")
MEASURES = os.environ.get("TULLE_TEST_MEASURES") != "0"  # beside other tests, or where a sanitizer takes time
PATIENCE = 60  # seconds, for what must not hang
IDLE_SHARE = 0.05  # of a processor; less than half of it on a quiet machine
SURVIVAL = ("--set", "on_place_death=throw")


def survivors_say(lost, ended, left):
    return (f"tulle: place {lost} has died: nobody knows how; 1 activity is lost\n"
            f"call: place {lost}\nfinish: place {lost}, 1 lost, {ended} ended\nleft: {left}\n")


class MpiTest(unittest.TestCase):
    def setUp(self):
        self.mark = uuid.uuid4().hex

    def environment(self, more):
        kept = {name: value for name, value in mpi.environment().items() if not name.startswith("TULLE_")}
        return {**kept, MARK: self.mark, **more}

    def start(self, words, more):
        return subprocess.Popen(words, text=True, env=self.environment(more), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run_words(self, words, code=0, input="", patience=PATIENCE, **more):
        process = self.start(words, more)
        try:
            out, err = process.communicate(input, timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail((words, "takes too long", process.communicate(timeout=PATIENCE)))
        self.assertEqual(process.returncode, code, (words, out[-1000:], err[-3000:]))
        return out, err

    def by_mpirun(self, places, *words, **more):
        return self.run_words([*mpi.launch(MPIRUN), "-n", str(places), *words], **more)

    def on_hosts(self, hosts, places, *words, options=(), **more):
        return self.run_words([TULLE, "run", "--hosts", hosts, "-n", str(places), "--mpi", FLAVOUR, *options, "--", *words], **more)

    def expect_no_places(self):
        """They may take a moment to end."""
        end = time.monotonic() + PATIENCE / 2
        while processes(self.mark, "conduct") and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(processes(self.mark, "conduct"), [])

    def path_with_a_launcher_whose_input_must_not_end(self):
        """PATH, with a launcher that fails if its input ends within a moment."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, os.path.basename(MPIRUN))
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""#!{sys.executable}
import os, select, sys
if "--version" not in sys.argv and select.select([0], [], [], 0.2)[0]:
    sys.exit("the input of the launcher has ended")
os.execv("{MPIRUN}", ["{MPIRUN}", *sys.argv[1:]])
""")
        os.chmod(path, stat.S_IRWXU)
        return folder.name + ":" + os.environ["PATH"]

    def expect_passed(self, out):
        """Those for which there are too few processes, and what an MPI cannot do, are skipped."""
        self.assertGreater(int(re.search(r"\[  PASSED  \] (\d+) tests", out)[1]), 12, out[-3000:])
