# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/scale.md about memory are those that the program measures. Arguments: the path of the program `scale.places`, the page."""
import re
import subprocess
import sys
import unittest

PAGE = sys.argv.pop()
SCALE = sys.argv.pop()
PLACES = [10, 100, 1000]
TOLERANCE = 0.1  # of a figure; the page rounds
UNITS = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def bytes_of(text):
    number, unit = re.fullmatch(r"([\d.,]+) (\w+)", text).groups()
    return float(number.replace(",", "")) * UNITS[unit]


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        out = subprocess.run([SCALE, "--memory", *map(str, PLACES)], capture_output=True, text=True, check=True).stdout
        cls.measured = [list(map(int, cells(line)[1:])) for line in out.splitlines() if re.match(r"\| \d", line)]
        with open(PAGE, encoding="utf-8") as file:
            cls.lines = file.readlines()

    def told(self, beginning):
        row, = [cells(line) for line in self.lines if line.startswith("| " + beginning)]
        return [bytes_of(cell) for cell in row[2:2 + len(PLACES)]]

    def expect_column(self, number, beginning):
        for places, told, measured in zip(PLACES, self.told(beginning), self.measured):
            self.assertLess(abs(told - measured[number]), TOLERANCE * measured[number], (beginning, places, measured[number]))

    def test_heap_of_a_place(self):
        self.expect_column(0, "messages and what uses them: ")

    def test_transport_of_one_host(self):
        self.expect_column(1, "transport of one host: ")

    def test_memory_that_places_of_one_host_share(self):
        self.expect_column(2, "all of it, ")

    def test_what_of_it_takes_memory(self):
        self.expect_column(3, "of that, in memory ")


if __name__ == "__main__":
    unittest.main()
