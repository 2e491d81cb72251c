# SPDX-License-Identifier: Apache-2.0
"""What `make nightly` does with the programs of SPLASH: with their sources they run on two hosts, and without them it says that they did not."""
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import unittest

import planted


class SplashOnTwoHosts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts/lib").mkdir(parents=True)
        shutil.copy(planted.PROJECT / "scripts/lib/splash.sh", self.root / "scripts/lib")

    def step(self, code=0, **variables):
        """With a script in place of the one that makes two hosts, which ends with that code."""
        two_hosts = self.root / "scripts/two-hosts"
        two_hosts.write_text(f'#!/bin/sh\necho "$*"\nexit {code}\n')
        two_hosts.chmod(stat.S_IRWXU)
        kept = {name: value for name, value in os.environ.items() if name != "TULLE_SPLASH_SOURCES"}
        return subprocess.run(["sh", "-uc", '. scripts/lib/splash.sh; splash_on_two_hosts; code=$?; echo "end: ${not_run:-}"; exit $code'], cwd=self.root,
                              env={**kept, **variables}, capture_output=True, text=True, timeout=60, check=False)

    def test_without_sources_it_is_told(self):
        for variables in ({}, {"TULLE_SPLASH_SOURCES": ""}):
            done = self.step(1, **variables)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            reason = "SPLASH on two hosts: TULLE_SPLASH_SOURCES names no folder with the sources of SPLASH-2 or SPLASH-3"
            self.assertEqual(done.stdout, f"not run: {reason}\nend: {reason}\n")

    def test_with_sources_two_processes_of_each_host_take_part(self):
        for code in (0, 1):
            done = self.step(code, TULLE_SPLASH_SOURCES="/some where/Splash-3")
            self.assertEqual((done.returncode, done.stderr), (code, ""))
            self.assertEqual(done.stdout, "build/release/bin/tulle bench splash --quick --sources /some where/Splash-3 --hosts a:2,b:2 --places 4\nend: \n")

    def test_without_hosts_it_is_told(self):
        done = self.step(125, TULLE_SPLASH_SOURCES="/somewhere")
        self.assertEqual(done.returncode, 0)
        self.assertIn("not run: SPLASH on two hosts: scripts/two-hosts cannot make them\n", done.stdout)

    def test_it_is_a_step_of_the_night(self):
        nightly = (planted.PROJECT / "scripts/nightly").read_text(encoding="utf-8")
        self.assertIn(". scripts/lib/splash.sh", nightly)
        self.assertRegex(nightly, r"for step in (.|\n)* splash_on_two_hosts ")


planted.main()
