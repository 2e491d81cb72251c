# SPDX-License-Identifier: Apache-2.0
"""What the compile-fail tests rely on: code that compiles, or that fails for another reason, is reported."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import planted

SCRIPT = planted.PROJECT / "tests/compile_fail/expect_error.py"


class ExpectError(unittest.TestCase):
    def result_of(self, *lines):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "a.cpp"
            source.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            command = [sys.executable, "-B", SCRIPT, source, "--", "c++", "-std=c++20", "-fsyntax-only"]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_accepts_the_expected_error(self):
        result = self.result_of("// expect: static assertion failed.*too (small|big)", 'static_assert(1 > 2, "too small");')
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_reports_code_that_compiles(self):
        result = self.result_of("// expect: anything", "int x;")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("compiles, but must be refused", result.stderr)

    def test_reports_another_error(self):
        result = self.result_of("// expect: too small", "int x = undeclared;")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no error matches 'too small'", result.stderr)

    def test_is_not_deceived_by_a_quoted_source_line(self):
        result = self.result_of("// expect: too small", "int x = undeclared; // too small")
        self.assertNotEqual(result.returncode, 0)

    def test_wants_an_expectation(self):
        self.assertNotEqual(self.result_of("int x = undeclared;").returncode, 0)


planted.main()
