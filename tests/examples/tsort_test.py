#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tsort writes byte for byte what LC_ALL=C sort writes."""
import os
import random
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
from example_program import C_LOCALE, PROGRAM, ProgramTest, main, program_test  # noqa: E402

program_test("tsort")
SEED = int(os.environ.get("TULLE_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
print(f"tsort_test: seed {SEED} (set TULLE_TEST_SEED to repeat)")


def expected(paths, stdin=b""):
    return subprocess.run(["sort", "--", *paths], input=stdin, capture_output=True, env=C_LOCALE, check=True).stdout


class Sorting(ProgramTest):
    def same_as_sort(self, *contents):
        paths = [self.write(f"input{i}", content) for i, content in enumerate(contents)]
        want = expected(paths)
        for workers in (1, 2, 4):
            self.succeeds("--workers", workers, "-o", self.path("out"), *paths)
            if self.read("out") != want:
                self.fail(f"workers {workers}, seed {SEED}: the output differs from that of sort")
        self.assertEqual(self.succeeds(*paths), want)

    def test_small_inputs(self):
        for content in (b"", b"\n", b"a", b"a\n", b"b\na", b"\n\n\n", b"\n\na\n\n", b"b\na\n", b"\0\n\0\0\n\n\0", b"a\na\0\na\0\0\na",
                        b"\xff\n\x80\n\x7f\n\n\x01", b"ab\na\nabc\nab\na"):
            with self.subTest(content=content):
                self.same_as_sort(content)

    def test_several_files_without_final_newline(self):
        self.same_as_sort(b"c\nb", b"", b"a", b"\n", b"d\nb\n", b"a\0b")

    def test_all_lines_equal(self):
        self.same_as_sort(b"the same\n" * 50000)
        self.same_as_sort(b"\n" * 50000)

    def test_sorted_and_reversed(self):
        lines = [b"%09d" % i for i in range(40000)]
        self.same_as_sort(b"\n".join(lines))
        self.same_as_sort(b"\n".join(reversed(lines)))

    def test_long_common_prefixes(self):
        rng = random.Random(SEED)
        prefix = bytes(rng.randrange(11, 256) for _ in range(5000))
        self.same_as_sort(b"\n".join(prefix + b"%d" % rng.randrange(500) for _ in range(3000)))
        self.same_as_sort(b"\n".join(prefix[:rng.randrange(len(prefix))] for _ in range(3000)))

    def test_each_line_a_prefix_of_the_next(self):
        lines = [b"a" * n for n in range(6000)]
        random.Random(SEED).shuffle(lines)
        self.same_as_sort(b"\n".join(lines))

    def test_nul_bytes_around_the_key_length(self):
        rng = random.Random(SEED)
        lines = [b"x" * rng.randrange(20) + b"\0" * rng.randrange(20) + rng.choice([b"", b"y", b"\x01"]) for _ in range(30000)]
        self.same_as_sort(b"\n".join(lines))

    def test_random_bytes(self):
        rng = random.Random(SEED)
        self.same_as_sort(rng.randbytes(3000000))

    def test_random_lines_of_few_letters(self):
        rng = random.Random(SEED)
        lines = [bytes(rng.choices(b"ab", k=rng.randrange(60))) for _ in range(60000)]
        self.same_as_sort(b"\n".join(lines), b"\n".join(lines[:100]))

    def test_lines_longer_than_a_piece_and_than_the_length_field(self):
        rng = random.Random(SEED)
        long = b"z" * (17 << 20)
        lines = [long + b"b", long + b"a", long, b"z" * ((1 << 24) - 1), b"z" * (1 << 24), rng.randbytes(3 << 20).replace(b"\n", b"")]
        self.same_as_sort(b"\n".join(lines + [b"short", b""]))


class Streams(ProgramTest):
    def test_standard_input_and_dash(self):
        text = b"b\nc\na"
        self.assertEqual(self.succeeds(stdin=text), b"a\nb\nc\n")
        other = self.write("other", b"bb\n")
        self.assertEqual(self.succeeds("-", other, stdin=text), b"a\nb\nbb\nc\n")

    def test_output_may_be_an_input(self):
        path = self.write("file", b"c\nb\na\nlast")
        self.succeeds(path, "-o", path)
        self.assertEqual(self.read("file"), b"a\nb\nc\nlast\n")

    def test_shorter_output_replaces_longer_file(self):
        out = self.write("out", b"x" * 100)
        self.succeeds("-o", out, stdin=b"b\na\n")
        self.assertEqual(self.read("out"), b"a\nb\n")

    def test_shell_redirections(self):
        path = self.write("in", b"b\na\n")
        script = f"'{PROGRAM}' '{path}' > '{self.path('to')}'; (echo first; '{PROGRAM}' '{path}'; echo last) > '{self.path('both')}'; " \
                 f"'{PROGRAM}' '{path}' >> '{self.path('both')}'"
        subprocess.run(["sh", "-c", script], check=True, timeout=100)
        self.assertEqual(self.read("to"), b"a\nb\n")
        self.assertEqual(self.read("both"), b"first\na\nb\nlast\na\nb\n")


class Options(ProgramTest):
    def test_common_options(self):
        self.checks_common_options()

    def test_unreadable_input(self):
        self.fails("/no/such/file", message=b"'/no/such/file': No such file")
        self.fails("/", message=b"Is a directory")
        self.fails(self.write("in", b"a\n"), "-o", "/no/such/folder/out", message=b"'/no/such/folder/out'")

    def test_full_device_is_reported(self):
        self.fails(self.write("in", b"a\n" * 1000), "-o", "/dev/full", message=b"No space left")

    def test_generate(self):
        self.succeeds("--generate", "3MB", "--seed", "7", "-o", self.path("made"))
        made = self.read("made")
        self.assertEqual((len(made), made[-1:]), (3000000, b"\n"))
        self.succeeds("--generate", "3MB", "--seed", "8", "-o", self.path("other"))
        self.assertNotEqual(made, self.read("other"))
        self.fails("--generate", "0", message=b"--generate")
        self.fails("--generate", "lots", message=b"--generate")

    def test_compare(self):
        self.succeeds("--generate", "2MB", "-o", self.path("made"))
        rows = self.contest_rows("--compare", self.path("made"))
        self.assertIn("sort --parallel", "".join(row[2] for row in rows))
        self.fails("--compare", message=b"needs files")


if __name__ == "__main__":
    main()
