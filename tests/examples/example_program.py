# SPDX-License-Identifier: Apache-2.0
"""What the tests of the example programs share: running the program under test, whose path is the first argument."""
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
C_LOCALE = dict(os.environ, LC_ALL="C")


def run(*words, program=None, stdin=b""):
    """Runs the program; returns (exit code, standard output, standard error) with the outputs as bytes."""
    done = subprocess.run([program or PROGRAM, *map(str, words)], input=stdin, capture_output=True, env=C_LOCALE,
                          timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def program_test(name):
    """The program name, for its messages; the path under test must end so."""
    assert os.path.basename(PROGRAM) == name, f"usage: {name}_test.py PATH/TO/{name}"
    return name


class ProgramTest(unittest.TestCase):
    """A test case with a temporary directory and the checks that every program answers."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def succeeds(self, *words, stdin=b""):
        """Its standard output."""
        code, out, err = run(*words, stdin=stdin)
        self.assertEqual(code, 0, f"{words}: {err!r} {out[-300:]!r}")
        return out

    def fails(self, *words, message=b"", code=2):
        """It ends with this code and one message on the standard error that names the program and says `message`."""
        got, _, err = run(*words)
        self.assertEqual(got, code, f"{words}: {err!r}")
        self.assertTrue(err.startswith(os.path.basename(PROGRAM).encode() + b": "), err)
        self.assertIn(message, err)

    def checks_common_options(self, *words):
        """words: arguments that the program cannot do without."""
        self.assertIn(b"Usage:", self.succeeds("--help"))
        self.fails(*words, "--no-such-option", message=b"no-such-option")
        self.fails(*words, "--workers", "many", message=b"--workers")
        self.fails(*words, "--workers", "-1", message=b"--workers")
        self.fails(*words, "--workers", "5000", message=b"4096")

    def contest_rows(self, *words):
        """Runs it with --tsv; checks each row and returns them as lists of fields."""
        rows = [line.split("\t") for line in self.succeeds(*words, "--tsv").decode().splitlines()]
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(len(row), 7, row)
            self.assertGreaterEqual(float(row[4]), 0, row)
            self.assertEqual(row[6], "ok", row)
        self.assertEqual(rows[0][3], "tulle")
        return rows


def main():
    unittest.main(argv=[sys.argv[0]], verbosity=1)
