# SPDX-License-Identifier: Apache-2.0
"""A small project in a temporary folder, into which a test plants what a check must find."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(__file__).resolve().parents[2]


class PlantedProject(unittest.TestCase):
    check = ""  # the script under test

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)

    def plant(self, path, *lines):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def run_check(self, *arguments):
        command = [sys.executable, "-B", str(PROJECT / "scripts" / self.check), "--root", str(self.root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def assert_passes(self):
        result = self.run_check()
        self.assertEqual(result.returncode, 0, result.stderr)

    def assert_fails(self, *messages):
        result = self.run_check()
        self.assertNotEqual(result.returncode, 0, result.stdout)
        for message in messages:
            self.assertIn(message, result.stderr)


def main():
    unittest.main(argv=sys.argv[:1])
