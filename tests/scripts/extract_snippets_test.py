# SPDX-License-Identifier: Apache-2.0
"""Which code blocks of a document become programs, what they look like, and what is said of those that do not do what the document says."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import planted

FOLDER = planted.PROJECT / "tests/examples"
SAYS_ONE = "<!-- test name=one -->\n```c\n#include <stdio.h>\nputs(\"1\");\n```\n"


class Snippets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def extract(self, text):
        document = self.folder / "GUIDE.md"
        document.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", FOLDER / "extract_snippets.py", self.folder, self.folder / "out", document]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def file(self, name):
        return self.folder / "out/guide" / name

    def text(self, name):
        return self.file(name).read_text(encoding="utf-8")

    def run_document(self, text):
        """Compiles the programs of a document, which need no Tulle, and runs the plan."""
        programs = self.folder / "programs"
        programs.mkdir()
        for line in self.extract(text).stdout.splitlines():
            _, name, source, _ = line.split()
            if name != "plan":
                subprocess.run(["c++" if source.endswith("cpp") else "cc", source, "-o", programs / name], check=True)
        command = [sys.executable, "-B", FOLDER / "run_snippets.py", self.file("plan.json"), programs, self.folder / "tulle"]
        return subprocess.run(command, capture_output=True, text=True, check=False)


class Extract(Snippets):
    def test_takes_marked_blocks_only(self):
        result = self.extract("```cpp\nskipped\n```\n<!-- test -->\n```cpp\nint main() {}\n```\n"
                              "<!-- test -->\n```c\nint main(void) { return 0; }\n```\n")
        self.assertEqual([line.split()[1] for line in result.stdout.splitlines()], ["joined", "guide_2", "plan"])
        self.assertNotIn("skipped", self.text("joined.cpp"))

    def test_puts_statements_into_main_behind_the_includes(self):
        self.extract(SAYS_ONE)
        self.assertRegex(self.text("one.c"), r'^#include <stdio.h>\nint main\(void\)\n\{\n#line 3 "GUIDE.md"\n\nputs\("1"\);\n')

    def test_compiles_what_is_to_be_alone_alone(self):
        result = self.extract("<!-- test alone -->\n```cpp\nint main() {}\n```\n<!-- test with=tbb -->\n```cpp\nint main() {}\n```\n")
        self.assertEqual([line.split()[1::2] for line in result.stdout.splitlines()[:2]], [["guide_1", "none"], ["guide_2", "tbb"]])

    def test_leaves_unchanged_files_alone(self):
        block = "<!-- test -->\n```cpp\nint main() {}\n```\n"
        self.extract(block)
        before = self.file("joined.cpp").stat().st_mtime_ns
        self.extract(block)
        self.assertEqual(self.file("joined.cpp").stat().st_mtime_ns, before)

    def test_reports_marks_that_mean_nothing(self):
        for text, message in (("<!-- test -->\nprose\n", "is not followed by"), ("<!-- test -->\n```sh\nls\n```\n", "is not followed by"),
                              ("<!-- test quick -->\n```c\nint x;\n```\n", "'quick' means nothing")):
            with self.subTest(text=text):
                result = self.extract(text)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(message, result.stderr)


class Run(Snippets):
    def assert_fails(self, text, message):
        result = self.run_document(text)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        self.assertIn(message, result.stderr)

    def test_runs_programs_that_are_compiled_as_one(self):
        block = "#include <cstdio>\nvoid say() { std::puts(\"%s\"); }\nint main() { say(); }\n"
        text = "".join(f"<!-- test name={name} -->\n```cpp\n{block % name}```\n<!-- test -->\n```text\n{name}\n```\n" for name in ("a", "b"))
        result = self.run_document(text)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_gives_arguments_and_compares_with_what_is_left_open(self):
        program = ("<!-- test name=say -->\n```cpp\n#include <cstdio>\nint main(int argc, char** argv) "
                   "{ for (int i = 1; i < argc; ++i) std::puts(argv[i]); }\n```\n")
        result = self.run_document(program + "<!-- test -->\n```console\n$ ./say 12 x y z\n1...\n...\nz\n$ ./say\n```\n")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_reports_a_program_that_fails(self):
        self.assert_fails("\n<!-- test -->\n```c\nreturn 3;\n```\n", "GUIDE.md:4: ended with 3")

    def test_reports_a_program_that_should_fail(self):
        self.assert_fails("<!-- test fails -->\n```c\nreturn 0;\n```\n", "GUIDE.md:3: ended with 0")

    def test_reports_other_output(self):
        self.assert_fails(SAYS_ONE + "<!-- test -->\n```text\n2\n```\n", "GUIDE.md:8: expected\n2")

    def test_reports_other_output_of_a_command(self):
        self.assert_fails(SAYS_ONE + "<!-- test -->\n```console\n$ ./one\n1\n$ ./one; echo x\n1\n```\n", "expected\n1")

    def test_leaves_out_what_needs_a_library_that_is_not_there(self):
        text = SAYS_ONE.replace("name=one", "name=one with=tbb") + "<!-- test -->\n```console\n$ ./one\n1\n```\n"
        self.extract(text)
        command = [sys.executable, "-B", FOLDER / "run_snippets.py", self.file("plan.json"), self.folder, self.folder / "tulle"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("GUIDE.md:8: not run: tbb", result.stdout)

    def test_reports_a_program_that_was_not_built(self):
        self.extract(SAYS_ONE)
        command = [sys.executable, "-B", FOLDER / "run_snippets.py", self.file("plan.json"), self.folder, self.folder / "tulle"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertIn("GUIDE.md:3: one was not built", result.stderr)


planted.main()
