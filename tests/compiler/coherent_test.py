# SPDX-License-Identifier: Apache-2.0
"""PARMACS programs of which each process has a copy of its own of shared memory, compiled by `tulle cc`: what one stores the others see as they see
it in one memory. `python3 coherent_test.py TULLE SOURCES`"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(sys.argv.pop(2)).resolve()
TULLE = pathlib.Path(sys.argv.pop(1)).resolve()
INCLUDE = [f"-I{SOURCES / folder}" for folder in ("include", "include/compat/parmacs", "tests/support")]
PROGRAMS = {
    "coherent": ["tests/compiler/coherent.c.in"],
    "objects": ["tests/compat/parmacs/objects.c.in", "tests/compat/parmacs/second_source.c.in"],
    "threads": ["tests/compat/parmacs/threads.c.in"],
}


def run(command, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, check=False, env={**kept, **variables})


class Private(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name)

    def source(self, path):
        made = self.work / f"{path.name.split('.')[0]}.c"
        macros = SOURCES / "include/compat/parmacs/parmacs.m4"
        made.write_text(subprocess.run(["m4", "-Ulen", "-Uindex", macros, path], capture_output=True, text=True, check=True).stdout)
        return made

    def build(self, name, *words, compiler=(TULLE, "cc")):
        program = self.work / name
        sources = [self.source(SOURCES / path) for path in PROGRAMS[name]]
        library = TULLE.parent.parent / "lib"
        done = run([*compiler, "-w", *words, *INCLUDE, *sources, "-o", program, f"-L{library}", "-ltulle-parmacs", "-ltulle", f"-Wl,-rpath,{library}"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def passes(self, program, places, **variables):
        done = run([TULLE, "run", "-n", places, "--", program, places], TULLE_COHERENT="private", **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""), (places, variables))

    def test_programs_see_one_memory(self):
        for name in PROGRAMS:
            program = self.build(name, "-O2")
            for places, unit in ((2, "64"), (2, "256"), (3, "4096"), (4, "1024")):
                with self.subTest(name, places=places, unit=unit):
                    self.passes(program, places, TULLE_COHERENT_UNIT=unit)

    def test_without_optimization(self):
        self.passes(self.build("coherent", "-O0"), 2)

    def test_that_share_variables(self):
        self.passes(self.build("coherent", "-O2"), 3, TULLE_SHARE_GLOBALS="on")

    def refused(self, program, message, **variables):
        done = run([TULLE, "run", "-n", 2, "--", program, 2], TULLE_COHERENT="private", **variables)
        self.assertEqual(done.returncode, 134, done.stderr)
        self.assertIn(f"tulle: parmacs: MAIN_INITENV: {message}", done.stderr)

    def test_what_cannot_be_is_said(self):
        self.refused(self.build("coherent", compiler=("cc",)), "with TULLE_COHERENT=private the program has to be compiled by tulle cc")
        program = self.build("coherent", "-O2")
        self.refused(program, "TULLE_COHERENT_UNIT is no power of two", TULLE_COHERENT_UNIT="192")
        self.assertEqual(run([program, 2]).returncode, 0)  # without copies


unittest.main()
