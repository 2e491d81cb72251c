# SPDX-License-Identifier: Apache-2.0
"""Which code blocks of a document become programs, and what they look like."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import planted

SCRIPT = planted.PROJECT / "tests/examples/extract_snippets.py"


class ExtractSnippets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def extract(self, text):
        document = self.folder / "GUIDE.md"
        document.write_text(text, encoding="utf-8")
        command = [sys.executable, "-B", SCRIPT, self.folder / "out", document]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_takes_marked_blocks_only(self):
        result = self.extract("```cpp\nskipped\n```\n<!-- test -->\n```cpp\nint main() {}\n```\n"
                              "<!-- test -->\n```c\nint main(void) { return 0; }\n```\n")
        self.assertEqual([pathlib.Path(line).name for line in result.stdout.splitlines()], ["guide_1.cpp", "guide_2.c"])
        self.assertNotIn("skipped", (self.folder / "out/guide_1.cpp").read_text(encoding="utf-8"))

    def test_puts_statements_into_main_behind_the_includes(self):
        self.extract("<!-- test -->\n```cpp\n#include <cstdio>\nstd::puts(\"x\");\n```\n")
        text = (self.folder / "out/guide_1.cpp").read_text(encoding="utf-8")
        self.assertIn('#include <cstdio>\nint main(void)\n{\nstd::puts("x");\n}\n', text)

    def test_leaves_unchanged_files_alone(self):
        block = "<!-- test -->\n```cpp\nint main() {}\n```\n"
        self.extract(block)
        before = (self.folder / "out/guide_1.cpp").stat().st_mtime_ns
        self.extract(block)
        self.assertEqual((self.folder / "out/guide_1.cpp").stat().st_mtime_ns, before)

    def test_reports_a_mark_without_a_block(self):
        result = self.extract("<!-- test -->\nprose\n")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("is not followed by", result.stderr)


planted.main()
