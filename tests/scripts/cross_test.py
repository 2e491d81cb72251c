# SPDX-License-Identifier: Apache-2.0
"""scripts/cross: its command line, and what it says of steps that fail. Stand-ins come first in PATH, so that nothing is built."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import planted


class Cross(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts").mkdir()
        self.script = shutil.copy(planted.PROJECT / "scripts/cross", self.root / "scripts/cross")
        self.stand_in("scripts/bootstrap", 'echo "$@" >>calls.bootstrap')
        self.stand_in("bin/cmake", 'echo "$@" >>calls.cmake; echo "[5/7] Building"')
        self.stand_in("bin/ctest", 'echo "$@" >>calls.ctest\necho "1/2 Test #1: a ....   Passed    0.10 sec"\necho "2/2 Test #2: b ....***Skipped   0.10 sec"')

    def stand_in(self, path, text):
        file = self.root / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\ncd {self.root}\n{text}\n", encoding="utf-8")
        file.chmod(0o755)

    def calls(self, program):
        file = self.root / f"calls.{program}"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def cross(self, *words):
        path = f"{self.root}/bin:{os.environ['PATH']}"
        return subprocess.run([self.script, *words], capture_output=True, text=True, timeout=100, check=False, env={**os.environ, "PATH": path})

    def test_one_architecture(self):
        done = self.cross("riscv64", "--jobs", "3", "--backend", "ucontext")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.calls("bootstrap"), ["cross riscv64"])
        configure, build = self.calls("cmake")
        self.assertIn("-DTULLE_TARGET=riscv64", configure)
        self.assertIn("-DTULLE_ARCH_BACKEND=ucontext", configure)
        self.assertTrue(build.endswith("-j 3 --target all"), build)
        self.assertRegex(done.stdout, r"(?m)^riscv64 .* 1 +1  ok$")
        self.assertRegex(done.stdout, r"(?m)^cross: all passed in \d+ s$")

    def test_all(self):
        done = self.cross("all")
        self.assertEqual(done.returncode, 0, done)
        known = "aarch64 riscv64 ppc64le sparc64 sparc ppc64 i386 armhf s390x"
        self.assertEqual(self.calls("bootstrap"), ["cross " + known])
        self.assertEqual([re.search(r"TULLE_TARGET=(\w+)", line)[1] for line in self.calls("cmake")[::2]], known.split())

    def test_every_architecture_has_packages_and_a_line_in_the_toolchain_file(self):
        toolchain = (planted.PROJECT / "cmake/cross.cmake").read_text(encoding="utf-8")
        self.cross("all")
        for name in self.calls("bootstrap")[0].split()[1:]:
            self.assertRegex(toolchain, rf"(?m)^tulle_target\({name} ")
            listed = subprocess.run([planted.PROJECT / "scripts/bootstrap", "cross", name, "--list"], capture_output=True, text=True, check=True)
            self.assertRegex(listed.stdout, r"(?m)^g\+\+-")
            self.assertIn("qemu-user\n", listed.stdout)

    def test_quick(self):
        done = self.cross("--quick")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.calls("bootstrap"), ["cross sparc64 aarch64 ppc64le"])
        self.assertEqual(len(self.calls("ctest")), 3)
        for build in self.calls("cmake")[1::2]:
            self.assertRegex(build, r" --target tulle_static test\.unit\.arch$")

    def test_quick_by_name(self):
        done = self.cross("--quick", "aarch64")
        self.assertEqual(done.returncode, 0, done)
        test, build = self.calls("ctest")[0], self.calls("cmake")[1]
        self.assertRegex(test, r" -R \^\(unit\.arch\|unit\.os\|\S*\):\|\^compat\\.pthread\\.emulated_few\$ ")
        self.assertRegex(build, r" tulle_preload test\.compat\.pthread\.cases ")
        self.assertIn(" test.unit.runtime ", build)

    def test_only_built(self):
        done = self.cross("riscv64", "--build")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual((len(self.calls("cmake")), len(self.calls("ctest"))), (2, 0))
        self.assertRegex(done.stdout, r"(?m)^cross: all built in \d+ s$")

    def test_goes_on_after_a_failure(self):
        self.stand_in("bin/cmake", 'case "$*" in *TULLE_TARGET=sparc64*) echo "CMake Error at x: no compiler"; exit 1 ;; esac')
        done = self.cross("sparc64", "aarch64")
        self.assertEqual(done.returncode, 1)
        self.assertIn("| CMake Error at x: no compiler", done.stderr)
        self.assertRegex(done.stdout, r"(?m)^sparc64 .*FAILED: configure failed; the whole log is build/cross/sparc64/configure\.log$")
        self.assertRegex(done.stdout, r"(?m)^aarch64 .* ok$")
        self.assertIn("cross: failed: sparc64\n", done.stderr)

    def test_a_failed_test_is_named(self):
        self.stand_in("bin/ctest", 'echo "1/1 Test #1: mutex.excludes ....***Failed    0.10 sec"; exit 8')
        done = self.cross("aarch64")
        self.assertEqual(done.returncode, 1)
        self.assertIn("mutex.excludes", done.stderr)

    def test_missing_packages(self):
        self.stand_in("scripts/bootstrap", "exit 1")
        done = self.cross("aarch64")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cross: packages are missing", done.stderr)
        self.assertEqual(self.calls("cmake"), [])

    def test_wrong_words(self):
        for words, message in (((), "name an architecture"), (("vax",), "unknown architecture 'vax'; known: aarch64 "), (("--fast",), "--fast")):
            done = self.cross(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
            self.assertEqual(self.calls("bootstrap"), [])


planted.main()
