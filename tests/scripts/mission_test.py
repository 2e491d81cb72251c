# SPDX-License-Identifier: Apache-2.0
"""docs/mission.md has every row once, in order, and what a row is shown by exists."""
import re
import unittest

import planted

ROWS = {"MT": 30, "QT": 40, "OP": 32, "TN": 31, "DZ": 33, "ALL": 1}
ROW = re.compile(r"^\| ([A-Z]{2,3})-(\d\d) \| (.+) \| (.+) \|$", re.MULTILINE)

COMMAND = re.compile(r"tulle bench ([a-z0-9-]+)")


class Mission(unittest.TestCase):
    def setUp(self):
        self.rows = ROW.findall((planted.PROJECT / "docs/mission.md").read_text(encoding="utf-8"))

    def test_has_every_row_once_and_in_order(self):
        expected = [(tag, f"{number:02}") for tag, count in ROWS.items() for number in range(1, count + 1)]
        self.assertEqual([row[:2] for row in self.rows], expected)

    def test_names_only_what_exists(self):
        for tag, number, _, shown in self.rows:
            if shown == "open":
                continue
            paths = re.findall(r"`([^`]+)`", shown)
            self.assertTrue(paths, f"{tag}-{number} names nothing in backticks: {shown}")
            for path in paths:
                with self.subTest(row=f"{tag}-{number}"):
                    command = COMMAND.match(path)
                    if command:
                        self.assertTrue(any((planted.PROJECT / "bench" / file).exists() for file in (command[1], f"papers/{command[1]}.json")), path)
                        continue
                    self.assertRegex(path, "^(tests|bench|examples)/")
                    self.assertTrue((planted.PROJECT / path).exists(), f"{path} does not exist")


planted.main()
