# SPDX-License-Identifier: Apache-2.0
"""The examples over places give the same at 1, 2 and 4 places, and find their own results right. Arguments: the paths of the program `tulle` and
of the folder of the examples."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
PLACES = (1, 2, 4)


def run(places, name, *words):
    launcher = [TULLE, "run", "-n", str(places), "--"] if places else []
    return subprocess.run([*launcher, os.path.join(FOLDER, name), *words], capture_output=True, text=True, timeout=100, check=False)


class OverPlaces(unittest.TestCase):
    def outputs(self, name, *words):
        """At one place after the other; the first time without `tulle run`."""
        found = []
        for places in (0, *PLACES):
            done = run(places, name, *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), (places, name, words))
            found.append(done.stdout)
        self.assertEqual(found[0], found[1])
        return found[1:]

    def same_everywhere(self, name, *words):
        first, *others = self.outputs(name, *words)
        for other in others:
            self.assertEqual(other, first)
        return first

    def fails(self, name, *words, message):
        done = run(2, name, *words)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(message, done.stderr)

    def test_hello_places(self):
        for places in PLACES:
            done = run(places, "hello_places")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            lines = sorted(re.sub(r"^\[\d\] ", "", line) for line in done.stdout.splitlines())
            self.assertEqual([line.split(":")[0] for line in lines], [f"place {k} of {places}" for k in range(places)])
            self.assertEqual(len({re.search(r"process (\d+)", line)[1] for line in lines}), places)

    def test_histogram(self):
        for numbers, bins in ((1, 1), (2, 3), (100_000, 1000), (50_000, 7)):
            for out in self.outputs("histogram", str(numbers), "--bins", str(bins)):
                self.assertRegex(out, rf"\A{numbers} numbers in {bins} bins at \d places, at most \d+ in one\n\Z")

    def test_global_sort(self):
        for n in (1, 3, 100, 50_000):
            for places, out in zip(PLACES, self.outputs("global_sort", str(n), "--seed", str(n))):
                parts = [int(word) for word in out.split("have")[1].split()]
                self.assertEqual((len(parts), sum(parts)), (places, n))
        self.assertLess(max(parts), 2 * n / places)

    def test_heat(self):
        for n, steps in ((4, 0), (5, 7), (60, 80)):
            averages = {re.search(r": (\S+) degrees", out)[1] for out in self.outputs("heat", str(n), "--steps", str(steps))}
            self.assertEqual(len(averages), 1)
        self.fails("heat", "2", message="2")

    def test_word_count(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.same_everywhere("word_count", folder), "")
            os.mkdir(os.path.join(folder, "below"))
            for k in range(9):
                with open(os.path.join(folder, "below" if k % 2 else "", f"file {k}"), "w", encoding="ascii") as file:
                    file.write("Some words, some\nmore " * k + "last")
            out = self.same_everywhere("word_count", folder)
            self.assertEqual([line.split() for line in out.splitlines()], [["72", "some"], ["36", "more"], ["36", "words"], ["9", "last"]])
            self.fails("word_count", os.path.join(folder, "file 0"), message="Not a directory")
            self.fails("word_count", message="DIRECTORY")

    def test_kmeans(self):
        for n, k in ((1, 1), (3, 5), (5000, 4)):
            self.assertEqual(len(self.same_everywhere("kmeans", str(n), "-k", str(k)).splitlines()), k)


if __name__ == "__main__":
    unittest.main()
