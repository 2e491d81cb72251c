# SPDX-License-Identifier: Apache-2.0
"""PARMACS programs compiled by `tulle cc --scheme=races`: each planted race is told with the lines of both accesses, and programs without one are
left alone. `python3 races_test.py TULLE SOURCES`"""
import pathlib
import re
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(sys.argv.pop(2)).resolve()
TULLE = pathlib.Path(sys.argv.pop(1)).resolve()
HEAD = "tulle: data race: nothing orders these accesses of two processes:"
END = re.compile(r"tulle: races: (\d+) pairs? of places in the program")
ACCESS = re.compile(r"  process (\d+) (.+) (\d+) bytes? at (0x[0-9a-f]+): (\w+) \((.+?):(\d+)\)")
PLANTED = ("stores", "adds", "load", "missing_lock", "wrong_lock", "unrelated_lock", "after_unlock", "missing_barrier", "after_barrier", "copy", "string", "cleared_event",
           "variable", "atomic", "relaxed", "own_flag", "freed")
HAS_RACES = 66


sys.path.insert(0, str(SOURCES / "tests/support"))
import parmacs_programs  # noqa: E402
from parmacs_programs import run  # noqa: E402


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name)
        cls.races = cls.build("races", ["tests/compiler/races.c.in"], "-O2")
        cls.source_lines = (cls.work / "races.c").read_text().splitlines()

    @classmethod
    def build(cls, name, paths, *words, compiler=(TULLE, "cc", "--scheme=races"), more=()):
        return parmacs_programs.build(TULLE, [*compiler, *words], paths, cls.work / name, more)

    def start(self, program, processes, *words, **variables):
        return run([TULLE, "run", "--no-tags", "-n", processes, "--", program, *words], **variables)

    def reports(self, done):
        """The accesses of each report, as (process, what, line) twice; checks that all that was printed is reports."""
        found = []
        for text in done.stderr.split(HEAD)[1:]:
            accesses = [ACCESS.match(line) for line in text.splitlines()[1:3]]
            self.assertTrue(all(accesses), done.stderr)
            found.append([(int(a[1]), a[2], int(a[7])) for a in accesses])
        return found

    def planted(self, name):
        return {number for number, line in enumerate(self.source_lines, 1) if f"/* RACE {name} */" in line}


class Races(Programs):
    def found(self, program, name, processes=2):
        done = self.start(program, processes, name, processes)
        self.assertEqual(done.returncode, HAS_RACES, (name, done.stderr))
        reports = self.reports(done)
        self.assertTrue(reports, (name, done.stderr))
        self.assertEqual(int(END.search(done.stderr)[1]), len(reports), done.stderr)
        for one, other in reports:
            self.assertNotEqual(one[0], other[0], done.stderr)
            self.assertIn("stores", one[1] + other[1], done.stderr)
        lines = {access[2] for report in reports for access in report}
        self.assertEqual(lines, self.planted(name), (name, done.stderr))
        return done

    def test_both_accesses_are_named(self):
        for name in PLANTED:
            with self.subTest(name):
                self.found(self.races, name)

    def test_a_barrier_orders_those_that_meet(self):
        self.found(self.races, "barrier_of_others", 4)

    def test_without_optimization(self):
        plain = self.build("plain", ["tests/compiler/races.c.in"], "-O0")
        for name in ("stores", "missing_lock", "copy", "atomic"):
            with self.subTest(name):
                self.found(plain, name)
        self.silent(plain, 3, "none", 3)

    def test_a_sum_is_one_access(self):
        done = self.found(self.races, "adds")
        self.assertEqual(len(self.reports(done)), 1, done.stderr)

    def test_what_lies_there_is_named(self):
        self.assertIn(" of the variable x\n", self.found(self.races, "variable").stderr)
        line = next(k for k, text in enumerate(self.source_lines, 1) if "tulle_parmacs_malloc(sizeof *global)" in text)
        self.assertRegex(self.found(self.races, "stores").stderr, rf"  byte \d+ of \d+ that were allocated at main \(.*races.c:{line}\)\n")

    def silent(self, program, processes, *words):
        done = self.start(program, processes, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_programs_without_races_are_left_alone(self):
        for processes in (2, 4):
            for _ in range(3):
                self.silent(self.races, processes, "none", processes)
        self.silent(self.races, 2, "handlers", 2)
        programs = {
            "coherent": ["tests/compiler/coherent.c.in"],
            "objects": ["tests/compat/parmacs/objects.c.in", "tests/compat/parmacs/second_source.c.in"],
            "threads": ["tests/compat/parmacs/threads.c.in"],
        }
        for name, paths in programs.items():
            with self.subTest(name):
                self.silent(self.build(name, paths, "-O2"), 3, 3)

    def test_static_variables_of_functions_are_ordered_by_their_construction(self):
        program = self.build("static_locals", ["tests/compiler/static_locals.c.in"], "-O2", "-x", "c++", compiler=(TULLE, "c++", "--scheme=races"))
        for processes in (2, 4):
            self.silent(program, processes, processes)

    def test_options(self):
        done = self.start(self.races, 2, "missing_lock", 2, TULLE_RACE_REPORTS="0", TULLE_RACE_EXIT_CODE="9")
        self.assertEqual(done.returncode, 9, done.stderr)
        self.assertNotIn(HEAD, done.stderr)
        self.assertRegex(done.stderr, r"tulle: races: \d pairs? of places in the program; the first 0 were told \(TULLE_RACE_REPORTS\)\n")
        self.assertEqual(self.start(self.races, 2, "stores", 2, TULLE_RACE_EXIT_CODE="own").returncode, 0)


class Own(Programs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.own = cls.build("own", ["tests/compiler/own_variables.c.in"], "-O1")
        cls.source_lines = (cls.work / "own_variables.c").read_text().splitlines()

    def line(self, name):
        return [number for number, text in enumerate(self.source_lines, 1) if f"/* OWN {name} */" in text]

    def test_a_variable_that_is_not_shared_is_named(self):
        done = self.start(self.own, 3, "result")
        self.assertEqual(done.returncode, HAS_RACES, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(lines[0], "tulle: variable that is not shared: each process has its own, and these are of two:")
        accesses = [ACCESS.match(line) for line in lines[1:3]]
        self.assertEqual(sorted(int(a[7]) for a in accesses), self.line("result"), done.stderr)
        self.assertEqual([a[2] for a in accesses], ["loads", "stores"], done.stderr)
        self.assertIn("byte 0 of 4 of the variable result\n", done.stderr)
        self.assertEqual(self.start(self.own, 3, "result", TULLE_SHARE_GLOBALS="on").returncode, 0)  # the event orders the two

    def test_what_each_process_uses_for_itself_is_left_alone(self):
        for name in ("used", "fine"):
            done = self.start(self.own, 3, name)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), name)

    def test_pointers_into_private_memory_are_named(self):
        for name, target in (("heap", "the heap"), ("stack", "the stack"), ("variable", "the variable number")):
            with self.subTest(name):
                done = self.start(self.own, 3, name)
                self.assertEqual(done.returncode, 0, done.stderr)  # no mistake if nobody follows it
                lines = done.stderr.splitlines()
                self.assertEqual(lines[0], "tulle: pointer into private memory, which means nothing to other processes:")
                self.assertEqual(int(ACCESS.match(lines[1])[7]), self.line(name)[0], done.stderr)
                self.assertRegex(lines[2], r"  byte \d+ of \d+ that were allocated at main ")
                self.assertRegex(lines[3], rf"  it leads to 0x[0-9a-f]+, {target} of process 1")
        self.assertEqual(self.start(self.own, 3, "variable", TULLE_SHARE_GLOBALS="on").stderr, "")


class Guide(Programs):
    def test_the_example_of_the_guide_says_what_the_guide_says(self):
        page = (SOURCES / "docs/guide/debugging.md").read_text()
        program, session = re.findall(r"^```\n(.*?)^```$", page.split("\n## Data races between processes\n")[1], re.MULTILINE | re.DOTALL)[:2]
        source = self.work / "sum.c.in"
        source.write_text(program)
        done = self.start(self.build("sum", [source], "-O2"), 2)
        expected = re.search(r"\$ tulle run .*?\n(.*)\$ echo \$\?\n(\d+)\n", session, re.DOTALL)
        self.assertEqual(done.returncode, int(expected[2]))
        self.assertEqual(self.without_chance(done.stderr.replace(f"{self.work}/", "")), self.without_chance(expected[1]))

    @staticmethod
    def without_chance(text):
        return re.sub(r"process \d|0x[0-9a-f]+", "?", text)


class Refused(Programs):
    def refused(self, message, program=None, **variables):
        done = self.start(program or self.races, 2, "none", 2, **variables)
        self.assertEqual(done.returncode, 134, done.stderr)
        self.assertIn(message, done.stderr)

    def test_what_cannot_be_is_said(self):
        self.refused("tulle: parmacs: MAIN_INITENV: the program was compiled with --scheme=races, by which races are found where processes share "
                     "memory itself, and here each has a copy", TULLE_COHERENT="private")
        self.refused("in memory at the usual address only: leave out TULLE_GLOBAL_LOW", TULLE_GLOBAL_LOW="1")
        self.refused("which knows 255 processes at most", TULLE_PARMACS_PROCESSES="256")

    def test_files_of_other_schemes_are_refused(self):
        other = self.work / "other.c"
        other.write_text("int* other; void set(int k) { *other = k; }\n")
        compiled = self.work / "other.o"
        self.assertEqual(run([TULLE, "cc", "-c", other, "-o", compiled]).returncode, 0)
        mixed = self.build("mixed", ["tests/compiler/races.c.in"], more=[compiled])
        self.refused("compile all of them with the same --scheme", mixed)


unittest.main()
