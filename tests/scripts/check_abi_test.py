# SPDX-License-Identifier: Apache-2.0
"""check-abi: says which symbols are gone, and, where abidiff is installed, what has changed between two prefixes."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import planted

OLD = "int tulle_one(int a) { return a; } int tulle_two(void) { return 2; } struct pair { int a; int b; }; int tulle_sum(struct pair *p) { return p->a + p->b; }"
MAP = "TULLE_0 { global: tulle_*; local: *; };"


@unittest.skipUnless(shutil.which("cc"), "there is no C compiler cc")
class CheckAbi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def library(self, prefix, source):
        lib = self.root / prefix / "lib"
        lib.mkdir(parents=True)
        (lib / "a.c").write_text(source, encoding="utf-8")
        (lib / "map").write_text(MAP, encoding="utf-8")
        built = lib / "libtulle.so.0.1.0"
        subprocess.run(["cc", "-g", "-shared", "-fPIC", f"-Wl,--version-script={lib}/map", "-Wl,-soname,libtulle.so.0", "-o", built, lib / "a.c"], check=True)
        return built

    def check(self, *words):
        script = planted.PROJECT / "scripts/check-abi"
        return subprocess.run([sys.executable, "-B", script, *words], capture_output=True, text=True, check=False)

    def test_names_symbols_that_are_gone(self):
        result = self.check("--symbols", self.library("old", OLD))
        self.assertEqual(result.returncode, 1)
        self.assertIn("does not export tulle_spawn@@TULLE_0 any more", result.stderr)

    @unittest.skipUnless(shutil.which("abidiff"), "there is no abidiff (Debian: abigail-tools)")
    def test_compares_two_prefixes(self):
        self.library("old", OLD)
        self.library("same", OLD + " int tulle_three(void) { return 3; }")
        self.library("less", OLD.replace("int tulle_two(void) { return 2; }", ""))
        self.library("other", OLD.replace("int b;", "long b;"))
        for new, status, words in (("same", 0, "as programs know them"), ("less", 1, "need to be compiled again"), ("other", 1, "libtulle: ")):
            result = self.check(self.root / "old", self.root / new)
            with self.subTest(new=new):
                self.assertEqual(result.returncode, status, result.stdout + result.stderr)
                self.assertIn(words, result.stdout + result.stderr)

    @unittest.skipUnless(shutil.which("abidiff"), "there is no abidiff (Debian: abigail-tools)")
    def test_a_library_that_is_gone_is_told(self):
        self.library("old", OLD)
        (self.root / "none/lib").mkdir(parents=True)
        self.assertIn("libtulle is gone", self.check(self.root / "old", self.root / "none").stderr)


planted.main()
