# SPDX-License-Identifier: Apache-2.0
"""What did not run of a test is told with its reason: by the test in Python itself (tests/support/run_script.py), and at the end of `make test`."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import planted

RUN_SCRIPT = planted.PROJECT / "tests/support/run_script.py"

# Skips a whole class in each of two ways, a test and a subtest; the reasons of some have several lines.
TEST = '''import sys
import unittest

class OverHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("two-hosts: needs\\nroot\\n")
    def test_one(self):
        pass

@unittest.skip("no plug-in")
class Checks(unittest.TestCase):
    def test_one(self):
        pass
    def test_two(self):
        pass

class Some(unittest.TestCase):
    def test_passes(self):
        self.assertEqual(sys.argv[1:], ["--given"])
    def test_other(self):
        self.skipTest("one CPU")
    def test_parts(self):
        for flavour in ("a", "b"):
            with self.subTest(flavour=flavour):
                if flavour == "b":
                    self.skipTest("not installed")
    def test_end(self):
        %s

unittest.main(argv=sys.argv[:1])
'''
TOLD = ["OverHosts: two-hosts: needs root", "Checks: no plug-in", "Some.test_other: one CPU", "Some.test_parts (flavour='b'): not installed"]

# Of ctest.
SUMMARY = """98% tests passed, 0 tests failed out of 12

The following tests did not run:
\t  3 - mpi.there_is_no_mpi (Disabled)
\t 12 - arch.v8 (Skipped)

"""


class Skipped(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, end):
        script = self.folder / "some_test.py"
        script.write_text(TEST % end)
        done = subprocess.run([sys.executable, "-B", RUN_SCRIPT, script, "--given"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(f"script: some_test.py: not run: {line}" for line in TOLD))
        return done

    def test_each_part_is_told_with_its_reason(self):
        done = self.run_script("pass")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("OK (skipped=5)", done.stderr)

    def test_failures_stay_failures(self):
        self.assertEqual(self.run_script("self.fail('wrong')").returncode, 1)

    def test_the_end_of_a_script_is_its_own(self):
        script = self.folder / "other_test.py"
        script.write_text("import sys\nprint(__file__, sys.argv, sys.path[0])\nsys.exit(77)\n")
        done = subprocess.run([sys.executable, "-B", RUN_SCRIPT, script, "-k", "x"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (77, ""))
        self.assertEqual(done.stdout, f"{script} {[str(script), '-k', 'x']} {self.folder}\n")

    def test_what_make_test_shows(self):
        log = self.folder / "Testing/Temporary/LastTest.log"
        log.parent.mkdir(parents=True)
        (self.folder / "test.log").write_text(SUMMARY)
        again = "".join(f"..s\nscript: some_test.py: not run: {line}\n" for line in TOLD[:2])
        log.write_text(f"{again}whole: unit.os shuffled: not run: topology.is_read\n{again}OK\n")
        done = subprocess.run(["sh", "-uc", '. scripts/lib/skipped.sh && skipped "$1"', "sh", self.folder], cwd=planted.PROJECT, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines(), [f"    not run: {line}" for line in (
            "mpi.there_is_no_mpi (Disabled)", "arch.v8 (Skipped)", "some_test.py: Checks: no plug-in", "some_test.py: OverHosts: two-hosts: needs root",
            "topology.is_read")])

    def test_where_nothing_was_left_out(self):
        (self.folder / "test.log").write_text("100% tests passed, 0 tests failed out of 12\n")
        done = subprocess.run(["sh", "-uc", '. scripts/lib/skipped.sh && skipped "$1"', "sh", self.folder], cwd=planted.PROJECT, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


planted.main()
