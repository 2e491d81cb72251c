# SPDX-License-Identifier: Apache-2.0
"""scripts/soak: what it says of programs that are sound, fail, die and hang. A shell script stands in for them."""
import os
import re
import stat
import subprocess
import tempfile
import unittest

import planted

# Prints what the real one prints. Each seed has 12 steps; seed 5 is the one that goes wrong, as long as steps 3 and 8 are in it.
HEAD = """#!/bin/sh
seed=$1
while [ $seed -lt $(($1 + $2)) ]; do
    echo "seed $seed steps 12"
    if [ $seed -eq 5 ]; then
        case ",$3," in *,3,* | *,8,*) exit 0 ;; esac
        %s
    fi
    seed=$((seed + 1))
done
"""


class Soak(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = os.path.join(folder.name, "program")

    def soak(self, wrong, *words, **variables):
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(HEAD % wrong)
        os.chmod(self.program, stat.S_IRWXU)
        kept = {name: value for name, value in os.environ.items() if name != "TULLE_TEST_SEED"}
        return subprocess.run([planted.PROJECT / "scripts/soak", "--program", self.program, *words], capture_output=True, text=True,
                              timeout=100, check=False, env={**kept, **variables})

    def smallest(self, done):
        found = re.search(r"soak: 2 of 12 steps are enough: .* --seed 5 --programs 1 --leave-out (\S+)", done.stdout)
        self.assertIsNotNone(found, done.stdout)
        self.assertEqual({int(word) for word in found[1].split(",")}, set(range(12)) - {3, 8})

    def test_sound_programs(self):
        done = self.soak("exit 1", "--seed", "6", "--programs", "120")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("120 programs of seeds 6 to 125 came out as the model says", done.stdout)

    def test_seed_of_the_environment(self):
        self.assertIn("TULLE_TEST_SEED=77\n", self.soak("exit 1", "--programs", "1", TULLE_TEST_SEED="77").stdout)

    def test_time(self):
        done = self.soak("exit 1", "--seed", "6", "--seconds", "0.1")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"soak: \d+ programs of seeds 6 to ")

    def test_wrong_result(self):
        done = self.soak('echo "DIFFERS"; exit 1', "--seed", "1", "--programs", "50")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("soak: seed 5 ended with 1\nDIFFERS\n", done.stdout)
        self.assertRegex(done.stdout, r"soak: repeat with  scripts/soak .* --seed 5 --programs 1\n")
        self.smallest(done)

    def test_death(self):
        done = self.soak("kill -SEGV $$", "--seed", "1", "--programs", "50")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("soak: seed 5 died by signal 11 (SIGSEGV)", done.stdout)
        self.smallest(done)

    def test_hang(self):
        done = self.soak("exec sleep 50", "--seed", "1", "--programs", "50", "--patience", "1", "--shrink-seconds", "0")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("soak: seed 5 hangs: nothing new for 1 s", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^#0 |gdb is not installed|ptrace")

    def test_replay_leaves_out(self):
        self.assertEqual(self.soak("exit 1", "--seed", "5", "--programs", "1", "--leave-out", "8").returncode, 0)
        self.assertEqual(self.soak("exit 1", "--seed", "5", "--programs", "1", "--leave-out", "7").returncode, 1)


planted.main()
