#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tgrep counts the lines that grep -ra finds."""
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from example_program import C_LOCALE, ProgramTest, main, program_test, run  # noqa: E402

program_test("tgrep")
SEED = int(os.environ.get("TULLE_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
print(f"tgrep_test: seed {SEED} (set TULLE_TEST_SEED to repeat)")


def by_grep(kind, pattern, *roots):
    out = subprocess.run(["grep", "-rach", kind, "-e", pattern, "--", *roots], stdout=subprocess.PIPE, env=C_LOCALE, check=False).stdout
    return sum(map(int, out.split()))


class Searching(ProgramTest):
    def count(self, *words):
        code, out, err = run(*words)
        self.assertIn(code, (0, 1), err)
        count = int(re.match(rb"(\d+) matching lines in ", out)[1])
        self.assertEqual(code, 0 if count else 1)
        return count

    def same_as_grep(self, pattern, *roots, kind="-F"):
        want = by_grep(kind, pattern, *roots)
        for workers in (1, 2, 4):
            words = ["--workers", workers] + (["-E"] if kind == "-E" else []) + ["--", pattern, *roots]
            self.assertEqual(self.count(*words), want, f"{pattern!r}, seed {SEED}")

    def tree(self, rng, files=60):
        """Files of random lines of few letters in random folders, some of them nasty."""
        root = self.path("tree")
        for i in range(files):
            folder = os.path.join(root, *(rng.choice("abc") for _ in range(rng.randrange(6))))
            os.makedirs(folder, exist_ok=True)
            letters = rng.choice([b"ab", b"abc \n", b"ab\0\n", bytes(range(256))])
            content = bytes(rng.choices(letters + b"\n", k=rng.randrange(20000))) + rng.choice([b"", b"\n", b"abba"])
            with open(os.path.join(folder, f"file {i}"), "wb") as file:
                file.write(content)
        return root

    def test_fixed_strings(self):
        root = self.tree(random.Random(SEED))
        for pattern in ("a", "ab", "abba", "aaaaaaa", "ba\tb", " ", "", "zzz", "-a", "b" * 30):
            self.same_as_grep(pattern, root)

    def test_expressions(self):
        root = self.tree(random.Random(SEED))
        for pattern in ("a+b", "^a", "b$", "^$", "^", "$", "(ab|ba){2,}c", "[^a]b", "a.b", "x*", "[[:space:]]a", "^[ab]*$", "b?$"):
            self.same_as_grep(pattern, root, kind="-E")

    def test_this_source_tree(self):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self.same_as_grep("std::", os.path.join(root, "examples"), os.path.join(root, "tests"))
        self.same_as_grep("#include <[a-z_]+>", os.path.join(root, "examples"), kind="-E")

    def test_lines_across_buffers(self):
        long = b"x" * 262140
        self.write("long", b"\n".join([long + b"needle", long * 9 + b"needle", b"needle", long, b"needle" + long * 3]))
        self.same_as_grep("needle", self.folder.name)
        self.same_as_grep("xneedle$", self.folder.name, kind="-E")

    def test_links_and_special_files(self):
        self.write("target", b"hit\n")
        os.mkdir(self.path("dir"))
        os.symlink(self.path("target"), self.path("dir/link"))
        os.symlink(self.path("dir"), self.path("dir/loop"))
        os.mkfifo(self.path("dir/fifo"))
        self.same_as_grep("hit", self.folder.name)
        self.assertEqual(self.count("hit", self.path("dir")), 0)
        self.assertEqual(self.count("hit", self.path("dir/link")), 1)

    def test_many_folders_deep(self):
        deep = self.path("deep") + "/d" * 400
        os.makedirs(deep)
        with open(deep + "/file", "wb") as file:
            file.write(b"at the bottom\n")
        self.same_as_grep("bottom", self.path("deep"))

    def test_several_roots_and_empty_files(self):
        a, b = self.write("a", b""), self.write("b", b"x\n\nx")
        self.same_as_grep("x", a, b, b)
        self.same_as_grep("", a, b)


class Options(ProgramTest):
    def test_common_options(self):
        self.checks_common_options("x", self.folder.name)

    def test_unreadable(self):
        self.fails("x", "/no/such/dir", message=b"'/no/such/dir': No such file")

    def test_bad_patterns(self):
        here = self.folder.name
        self.fails("-E", "a(", here, message=b"bad expression 'a('")
        self.fails("a\nb", here, message=b"newline")
        self.fails("x", message=b"DIR")
        self.fails(message=b"PATTERN")

    def test_compare(self):
        self.write("file", b"one\ntwo\nnone\n")
        rows = self.contest_rows("--compare", "one", self.folder.name)
        self.assertIn("grep -ra -c", [row[2] for row in rows])


if __name__ == "__main__":
    main()
