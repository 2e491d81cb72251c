# SPDX-License-Identifier: Apache-2.0
"""What `tulle cc` makes of the words that clang takes: which of them link, where the output is, which are refused, and caches of compilations.
`python3 words_test.py TULLE`"""
import os
import re
import shutil
import unittest

from compiler_case import ELSEWHERE, MAIN, TULLE, Case, run


class Words(Case):
    def command(self, *words, name="cc"):
        return run([TULLE, name, *words], cwd=self.work)

    def test_words_that_do_not_link_are_known(self):
        """-Werror refuses words that are not used."""
        self.source("s.s", ".text\n")
        self.source("l.c", "int one(void) { return 1; }\n")
        self.source("words", "-c l.c -o 'from file.o'\n")
        for words in (["-c", "s.s"], ["--analyze", "l.c"], ["--compile", "l.c"], ["--assemble", "l.c"], ["--preprocess", "l.c"], ["@words"], ["-c", "l.c", "-o", "l.o"]):
            done = self.command("-Werror", *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        self.assertTrue((self.work / "from file.o").exists())
        self.assertEqual(self.command("-Werror", "-shared", "l.o", "-o", "l.so").returncode, 0)

    def test_main_may_be_in_a_library(self):
        self.source("m.c", "int main(void) { return 0; }\n")
        self.assertEqual(self.command("-c", "m.c").returncode, 0)
        self.assertEqual(run(["ar", "rc", "libm1.a", "m.o"], cwd=self.work).returncode, 0)
        done = self.command("-o", "program", "-L.", "-lm1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(run([self.work / "program"]).returncode, 0)

    def test_the_output_is_found_wherever_it_is_named(self):
        self.assertEqual(run(["gcc", "-c", self.source("g.c", ELSEWHERE), "-o", self.work / "g.o"]).returncode, 0)
        self.source("m.c", "void elsewhere(int*); int main(void) { int n = 1; elsewhere(&n); return 0; }\n")
        self.source("inner", '-o "in file"')
        self.source("words", "m.c g.o @inner\n")
        self.source("a.out", "no program")
        for words, output in ((["@words"], "in file"), (["m.c", "g.o", "-Wl,-z,now,-o,by-linker"], "by-linker"),
                              (["m.c", "g.o", "-Xlinker", "-o", "-Xlinker", "by-words"], "by-words")):
            done = self.command(*words)
            self.assertEqual((done.returncode, done.stderr), (0, f"tulle: cc: note: {output}: compiled without checks: elsewhere\n"), words)

    def test_libraries_are_libraries_also_where_variables_are_shared(self):
        self.source("l.c", "int counter; int add(void) { return ++counter; }\n")
        done = self.command("--share-globals", "-fPIC", "-shared", "l.c", "-o", "libl.so")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.source("m.c", "int add(void); int main(void) { return add() - 1; }\n")
        self.assertEqual(self.command("m.c", "libl.so", "-Wl,-rpath,.", "-o", "program").returncode, 0)
        self.assertEqual(run([self.work / "program"], cwd=self.work).returncode, 0)
        header = (self.work / "libl.so").read_bytes()[:64]
        self.assertEqual(int.from_bytes(header[16:18], "little"), 3)  # ET_DYN

    def test_passes_that_know_no_plugin_are_refused(self):
        self.source("m.c", MAIN)
        self.source("words", "-flegacy-pass-manager")
        for words in (["-flegacy-pass-manager"], ["@words"], ["-Xclang", "-fno-experimental-new-pass-manager"]):
            done = self.command(*words, "-c", "m.c")
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("tulle: cc: -flegacy-pass-manager leaves no checks", done.stderr)

    def test_list_without_checks(self):
        done = self.build("m.c", MAIN, "--checks=none", "--list", "-O1")
        self.assertRegex(done.stdout, r"compiled without checks: (add|columns|main|sum)")

    def real_clang(self):
        version = sorted((TULLE.parent.parent / "lib/tulle").glob("coherent-checks-*.so"))[0].stem.rsplit("-", 1)[1]
        return shutil.which(f"clang-{version}")

    def test_a_cache_keeps_what_has_other_checks_apart(self):
        if not shutil.which("ccache"):
            self.skipTest("there is no ccache")
        wrapper = self.source("clang", f"#!/bin/sh\nexec ccache {self.real_clang()} \"$@\"\n")
        wrapper.chmod(0o755)
        source = self.source("c.c", "int counter; int add(int* n) { return ++*n + ++counter; }\n")
        cache = {**os.environ, "CCACHE_DIR": str(self.work / "cache")}
        for number, (words, has_checks) in enumerate(((["--checks=none"], False), ([], True), (["--share-globals"], True), (["--scheme=directory"], True))):
            output = self.work / f"{number}.o"
            for _ in range(2):
                done = run([TULLE, "cc", *words, f"--clang={wrapper}", "-O1", "-c", source, "-o", output], env=cache)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                relocations = run(["readelf", "-rW", output]).stdout
                found = re.search(r"tulle_(coherent|directory)_(load|store)", relocations)
                self.assertEqual(found is not None, has_checks, (words, relocations))
                self.assertEqual("tulle_directory_" in relocations, "--scheme=directory" in words)
        self.assertNotEqual((self.work / "1.o").read_bytes(), (self.work / "2.o").read_bytes())

    def test_a_link_that_has_succeeded_stays_so(self):
        """What it made is too large to be looked at."""
        fake = self.source("clang", f"#!/bin/sh\n[ \"$1\" = -dumpversion ] && exec {self.real_clang()} \"$@\"\ntruncate -s 4G huge\n")
        fake.chmod(0o755)
        done = run(["sh", "-c", f"ulimit -v 2000000; {TULLE} cc --clang={fake} m.o -o huge"], cwd=self.work)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


unittest.main()
