# SPDX-License-Identifier: Apache-2.0
"""Shepherds of all places, in processes of their own. Arguments: the paths of the programs `tulle` and `roam`."""
import os
import re
import subprocess
import sys
import unittest

ROAM = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())


def roam(places, memory=0):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    done = subprocess.run([TULLE, "run", "-n", str(places), "--memory-places", str(memory), "--workers", "2", "--set", "shepherds=2", "--", ROAM],
                          capture_output=True, text=True, timeout=100, check=False, env=variables)
    assert (done.returncode, done.stderr) == (0, ""), done
    *visits, nearest = done.stdout.splitlines()
    return [re.fullmatch(r"(\d\.\d) (\d\.\d) process (\d+) visit (\d+)", line).groups() for line in visits], nearest


class GlobalShepherds(unittest.TestCase):
    def test_threads_start_on_each_of_all_places(self):
        for places, memory in ((1, 0), (3, 0), (4, 1)):
            visits, _ = roam(places, memory)
            wanted = [f"{p}.{s}" for p in range(places - memory) for s in range(2)]
            self.assertEqual([v[0] for v in visits], wanted)
            self.assertEqual([v[1] for v in visits], wanted)

    def test_a_place_is_a_domain_of_protection(self):
        visits, _ = roam(3)
        processes = {place: {v[2] for v in visits if v[1][0] == place} for place in "012"}
        self.assertEqual([len(found) for found in processes.values()], [1, 1, 1])
        self.assertEqual(len(set.union(*processes.values())), 3)
        self.assertEqual([v[3] for v in visits], ["1", "2"] * 3)

    def test_the_nearest_are_those_of_the_same_place(self):
        _, nearest = roam(3)
        start, *others = nearest.split(" ")[1:]
        self.assertEqual(start, "2.1:")
        names, distances = zip(*(word.split("=") for word in others))
        self.assertEqual(names, ("2.0", "0.0", "0.1", "1.0", "1.1"))
        self.assertLess(int(distances[0]), 256)
        self.assertTrue(all(266 <= int(d) < 512 for d in distances[1:]), distances)


if __name__ == "__main__":
    unittest.main()
