# SPDX-License-Identifier: Apache-2.0
"""Programs of <ucontext.h> print the same upon the C library and upon libtulle-ucontext, which `tulle run --ucontext` loads.
Arguments: the program `tulle`, the program of cases."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TULLE, CASES = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
# Without masks of their own contexts print others; all else is as with them.
ABOUT_MASKS = {"masks", "masks_in_memory", "switch_in_handler", "out_of_handler"}


def run(*words, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_UCONTEXT")}
    return subprocess.run(words, capture_output=True, text=True, timeout=60, env={**kept, **variables})


def names():
    return [name for name in run(CASES).stdout.split() if name != "library"]


class Conformance(unittest.TestCase):
    def compare(self, option, chosen):
        for name in chosen:
            with self.subTest(case=name, option=option):
                native, ours = run(CASES, name), run(TULLE, "run", option, CASES, name)
                self.assertEqual(native.returncode, 0, native)
                self.assertNotEqual(native.stdout, "")
                self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (native.returncode, native.stdout, native.stderr))

    def test_all_cases_with_masks(self):
        self.assertGreater(len(names()), 15)
        self.compare("--ucontext", names())

    def test_cases_without_masks(self):
        self.compare("--ucontext=no-masks", [name for name in names() if name not in ABOUT_MASKS])

    def test_a_handler_is_left_with_its_mask_only_without_masks(self):
        for option, blocked in (("--ucontext", 0), ("--ucontext=no-masks", 1)):
            self.assertIn(f"main: USR1 {blocked}", run(TULLE, "run", option, CASES, "switch_in_handler").stdout)


class Loading(unittest.TestCase):
    def test_the_functions_are_ours(self):
        self.assertNotIn("tulle", run(CASES, "library").stdout)
        for option in ("--ucontext", "--ucontext=no-masks"):
            self.assertIn("libtulle-ucontext.so", run(TULLE, "run", option, CASES, "library").stdout)

    def test_other_preloaded_libraries_stay(self):
        done = run(TULLE, "run", "--ucontext", "sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD="libdl.so.2")
        self.assertRegex(done.stdout, r"/libtulle-ucontext\.so\.\d+:libdl\.so\.2\n")

    def test_a_value_that_makes_no_sense_is_named(self):
        path = run(TULLE, "run", "--ucontext", "sh", "-c", "echo $LD_PRELOAD").stdout.strip()
        done = run(CASES, "masks", LD_PRELOAD=path, TULLE_UCONTEXT_MASKS="maybe")
        self.assertIn("TULLE_UCONTEXT_MASKS must be 0 or 1", done.stderr)
        self.assertEqual(done.stdout, run(CASES, "masks").stdout)

    def test_other_values_of_the_option_are_refused(self):
        done = run(TULLE, "run", "--ucontext=fast", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no-masks", done.stderr)

    def test_a_program_that_is_linked_statically_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            program, source = os.path.join(folder, "prog"), os.path.join(folder, "prog.c")
            pathlib.Path(source).write_text("int main(void) { return 3; }\n", encoding="utf-8")
            if subprocess.run(["cc", "-static", source, "-o", program], capture_output=True, check=False).returncode != 0:
                self.skipTest("there is no C library for programs that are linked statically")
            done = run(TULLE, "run", "--ucontext", program)
            self.assertEqual((done.returncode, done.stderr), (3, f"tulle: warning: run: --ucontext: {program} is linked statically, "
                                                              "so its contexts stay those of the C library\n"))
            self.assertEqual(run(TULLE, "run", "--ucontext", "true").stderr, "")

    def test_a_prefix_that_was_moved(self):
        program = pathlib.Path(TULLE)
        with tempfile.TemporaryDirectory() as folder:
            for name, source in (("bin", program), ("lib", program.parent.parent / "lib" / "libtulle-ucontext.so.0")):
                (pathlib.Path(folder) / name).mkdir()
                shutil.copy(source, pathlib.Path(folder) / name)
            moved = os.path.join(folder, "bin", "tulle")
            self.assertIn(folder, run(moved, "run", "--ucontext", CASES, "library").stdout)
            os.remove(os.path.join(folder, "lib", "libtulle-ucontext.so.0"))
            done = run(moved, "run", "--ucontext", CASES, "library")
            self.assertEqual(done.returncode, 1)
            self.assertIn("run: --ucontext: there is no ", done.stderr)


unittest.main()
