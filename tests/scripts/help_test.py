# SPDX-License-Identifier: Apache-2.0
"""Each script says what it is for when it is asked, names what it does not understand, and does nothing else in either case."""
import os
import subprocess
import unittest

import planted

SCRIPTS = sorted(file for file in (planted.PROJECT / "scripts").iterdir() if file.is_file() and os.access(file, os.X_OK))
NO_ARGUMENT = "--no-such-option"


def called(script, *arguments):
    return subprocess.run([script, *arguments], capture_output=True, text=True, timeout=60, check=False)


class EachScript(unittest.TestCase):
    def test_there_are_scripts(self):
        self.assertGreater(len(SCRIPTS), 15)

    def test_says_what_it_is_for(self):
        for script in SCRIPTS:
            for option in ("--help", "-h"):
                with self.subTest(script=script.name, option=option):
                    ended = called(script, option)
                    self.assertEqual((ended.returncode, ended.stderr), (0, ""))
                    self.assertIn(script.name, ended.stdout)
                    self.assertGreater(len(ended.stdout.split()), 15)
                    self.assertNotIn("set -", ended.stdout)

    def test_refuses_what_it_does_not_know_by_name(self):
        for script in SCRIPTS:
            with self.subTest(script=script.name):
                ended = called(script, NO_ARGUMENT)
                self.assertEqual(ended.returncode, 2)
                self.assertIn(NO_ARGUMENT, ended.stderr)
                self.assertEqual(ended.stdout, "")


class Names(unittest.TestCase):
    def test_of_presets_are_told_where_one_is_wrong(self):
        for script in ("build", "test"):
            with self.subTest(script=script):
                ended = called(planted.PROJECT / "scripts" / script, "no-such-preset")
                self.assertEqual(ended.returncode, 2)
                self.assertIn("clang-tsan", ended.stderr)
                self.assertFalse((planted.PROJECT / "build/no-such-preset").exists())


if __name__ == "__main__":
    planted.main()
