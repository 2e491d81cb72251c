# SPDX-License-Identifier: Apache-2.0
"""What tests of `tulle cc` as a compiler share: the first argument of each is TULLE."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TULLE = pathlib.Path(sys.argv.pop(1)).resolve()

MAIN = """
#include <stdio.h>
#include <tulle/coherent_abi.h>
#include <sys/mman.h>
__attribute__((noinline)) double sum(double const* a, int n) { double s = 0; for (int i = 0; i < n; ++i) s += a[i]; return s; }
__attribute__((noinline)) void columns(double* a, int n, int step) { for (int i = 0; i < n; ++i) a[i * step] = i * 0.5; }
__attribute__((noinline)) long add(long* a) { return __atomic_fetch_add(a, 1, __ATOMIC_SEQ_CST); }
int main(void) {
    double* a = mmap((void*)TULLE_COHERENT_FIRST, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (a == MAP_FAILED) return 1;
    columns(a, 100, 100);
    a[1] = add((long*)(a + 64)) + 1;
    printf("%g %g\\n", sum(a, 10000), sum(a, 2));
    return 0;
}
"""
ELSEWHERE = "void elsewhere(int* number) { if (!number) __builtin_trap(); }\n"

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
