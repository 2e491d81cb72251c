# SPDX-License-Identifier: Apache-2.0
"""Programs for TNT that follow another node's pointers are told whose they are, and variables are shared if that is asked for.
Arguments: the paths of the program `tulle`, of mistakes.c and of streams.cpp as programs, and whether this machine chooses addresses at random."""
import os
import subprocess
import sys
import unittest

RANDOM = sys.argv.pop() == "1"
STREAMS = os.path.abspath(sys.argv.pop())
PROGRAM = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
PATIENCE = 60  # seconds, for what must not hang


def run(which, *options, places=2, program=PROGRAM):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    done = subprocess.run([TULLE, "run", "-n", str(places), *options, "--", program, which], capture_output=True, text=True,
                          timeout=PATIENCE, check=False, env=kept)
    return (done.returncode, done.stderr) if program == PROGRAM else (done.returncode, done.stdout, done.stderr)


class Faults(unittest.TestCase):
    def says(self, which, words, *options, tries=1):
        for _ in range(tries):
            code, err = run(which, *options)
            if code != 0:
                break
        self.assertEqual(code, 139, err)
        self.assertIn("tulle: fault: place 1 ", err)
        self.assertRegex(err, words)

    @unittest.skipUnless(RANDOM, "addresses are not random, so place 1 may have something there")
    def test_whose_address_it_is(self):
        for which, owner in (("stack", "the stack of its main thread"), ("heap", r"its heap"), ("large", "its heap, or the stack of a thread,")):
            # Each place has its memory where chance has it: once in a while both have something at the same address, and 0 is read.
            self.says(which, rf"place 1 has nothing that it may use at address 0x[0-9a-f]+; place 0 \(process \d+\) has {owner}", tries=3)

    def test_heaps_lie_apart_where_variables_are_shared(self):
        for which in ("heap", "large"):
            self.says(which, r"place 1 has nothing that it may use at address 0x[0-9a-f]+; place 0 \(process \d+\) has its heap",
                      "--share-globals")

    def test_variables_of_another_node(self):
        self.says("variable", "place 1 follows a null pointer. Global variables are each place's own")

    def test_one_node_has_them_all(self):
        for which, code in (("stack", 3), ("heap", 4), ("large", 4), ("variable", 5)):
            self.assertEqual(run(which, places=1), (code, ""))


class SharedVariables(unittest.TestCase):
    def test_are_those_of_all_nodes(self):
        for places in (1, 2, 4):
            self.assertEqual(run("variable", "--share-globals", places=places), (5, ""))

    def test_by_the_option(self):
        self.assertEqual(run("variable", "--set", "share_globals=on"), (5, ""))

    def test_of_c_plus_plus(self):
        for places in (1, 2, 4):
            self.assertEqual(run("", "--share-globals", "--no-tags", places=places, program=STREAMS),
                             (0, f"node {places - 1} has 7\nmain has 8\n", ""))


if __name__ == "__main__":
    unittest.main()
