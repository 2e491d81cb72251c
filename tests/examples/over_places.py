# SPDX-License-Identifier: Apache-2.0
"""The examples over places give the same at 1, 2 and 4 places, and find their own results right. Arguments: the folder of the examples, and what starts
places of a program: the path of the program `tulle`, or of the mpirun of an MPI, with TULLE_ON_HOST=mpi or without."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import mpi  # noqa: E402

LAUNCHER = os.path.abspath(sys.argv.pop())
FOLDER = os.path.abspath(sys.argv.pop())
PLACES = (1, 2, 4)


# By an MPI, some are enough: each run takes half a second more.
every_example = unittest.skipUnless(os.path.basename(LAUNCHER) == "tulle", "one of those that are run by `tulle run` only")


def start_places(count):
    """The words before a program."""
    if count == 0:
        return []
    if os.path.basename(LAUNCHER) == "tulle":
        return [LAUNCHER, "run", "-n", str(count), "--"]
    return [*mpi.launch(LAUNCHER), "-n", str(count)]


def run(places, name, *words):
    return subprocess.run([*start_places(places), os.path.join(FOLDER, name), *words], capture_output=True, text=True, timeout=300, check=False,
                          env=mpi.environment())


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

    @every_example
    def test_heat(self):
        for n, steps in ((4, 0), (5, 7), (60, 80)):
            averages = {re.search(r": (\S+) degrees", out)[1] for out in self.outputs("heat", str(n), "--steps", str(steps))}
            self.assertEqual(len(averages), 1)
        self.fails("heat", "2", message="2")

    @every_example
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

    @every_example
    def test_primes(self):
        for n, count in ((3, 1), (10, 4), (100, 25), (200_000, 17984)):
            self.assertEqual(self.same_everywhere("primes", str(n)), f"{count} primes below {n}\n")

    def test_count_tree(self):
        self.assertEqual(self.same_everywhere("count_tree", "--depth", "5"), "3987 nodes by forks, 3987 by activities\n")

    @every_example
    def test_whole_trees(self):
        for tree, nodes in (("T1", 4130071), ("T3", 4112897)):
            done = run(2, "count_tree", tree)
            self.assertEqual((done.returncode, done.stdout), (0, f"{nodes} nodes by forks, {nodes} by activities\n"), done.stderr)

    @every_example
    def test_kmeans(self):
        for n, k in ((1, 1), (3, 5), (5000, 4)):
            self.assertEqual(len(self.same_everywhere("kmeans", str(n), "-k", str(k)).splitlines()), k)

    def test_hpccg_places(self):
        """As `hpccg`, which has everything at one place, and adds up in another order."""
        def residuals(text):
            found = {int(k): float(r) for k, r in re.findall(r"(?m)^Iteration = (\d+)   Residual = (\S+)$", text)}
            return {0: float(re.search(r"(?m)^Initial Residual = (\S+)$", text)[1]), **found}

        problems = (((20, 21, 22), 30), ((9, 1, 4), 1), ((6, 5, 40), 15))
        for domain, iterations in problems if os.path.basename(LAUNCHER) == "tulle" else problems[:1]:
            words = [*map(str, domain), "--iterations", str(iterations)]
            expected = residuals(run(0, "hpccg", *words, "--no-peers").stdout)
            for out in self.outputs("hpccg_places", *words):
                found = residuals(out)
                self.assertEqual(sorted(found), sorted({0, iterations} | {k for k in (15, 30) if k <= iterations}))
                for k, residual in found.items():
                    self.assertAlmostEqual(residual, expected.get(k, residual), delta=1e-5 * residual + 1e-9, msg=f"{domain}, iteration {k}")
                self.assertIn(iterations, expected)
        done = run(4, "hpccg_places", "3", "3", "3")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("fewer planes than places", done.stderr)

    @unittest.skipUnless(os.path.exists(os.path.join(FOLDER, "lu")), "there is no m4")
    @unittest.skipIf("TULLE_ON_HOST" in os.environ, "places share no memory")
    def test_lu(self):
        for n in (1, 2, 5, 100):
            for places in PLACES:
                done = run(places, "lu", str(n), str(places))
                self.assertEqual(done.returncode, 0, (n, places, done))
                self.assertRegex(done.stdout, rf"\A{n} x {n}, {places} processes: as the serial version\nParallel section: \d+ us\n\Z")
        done = run(2, "lu", "10", "3")
        if os.path.basename(LAUNCHER) == "tulle":  # which starts one more
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("10 x 10, 3 processes: as the serial version", done.stdout)
        else:
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("CREATE: all 2 processes of the program run already: start it with more", done.stderr)
            with unittest.mock.patch.dict(os.environ, TULLE_ON_HOST="mpi"):
                done = run(2, "lu", "10", "2")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("MAIN_INITENV: on several hosts the program has to be compiled by tulle cc", done.stderr)


if __name__ == "__main__":
    unittest.main()
