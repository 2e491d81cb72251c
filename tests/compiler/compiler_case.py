# SPDX-License-Identifier: Apache-2.0
"""What tests of `tulle cc` as a compiler share: the first argument of each is TULLE."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TULLE = pathlib.Path(sys.argv.pop(1)).resolve()


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, check=False, **options)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def source(self, name, text):
        path = self.work / name
        path.write_text(text)
        return path

    def build(self, name, text, *words, command="cc"):
        done = run([TULLE, command, *words, self.source(name, text), "-o", self.work / "program"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def bodies(self, text, scheme, *words):
        """{function: its code} after a compilation by a scheme."""
        done = run([TULLE, "cc", f"--scheme={scheme}", *(words or ["-O1"]), "-S", "-emit-llvm", self.source("v.c", text), "-o", "-"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return dict(re.findall(r"^define [^\n]*@(\w+)\([^\n]*\{\n(.*?)^\}", done.stdout, re.M | re.S))
