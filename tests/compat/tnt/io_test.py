# SPDX-License-Identifier: Apache-2.0
"""Output and input of threads at other nodes. Arguments: the program `tulle`, and files.c."""
import collections
import errno
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
PATIENCE = 60  # seconds, for what must not hang
NODES = 3


def run(*words, options=(), text="", folder=None):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    return subprocess.run([TULLE, "run", "-n", str(NODES), *options, "--", PROGRAM, *words], input=text, capture_output=True, text=True,
                          env=environment, cwd=folder, timeout=PATIENCE)


class Io(unittest.TestCase):
    def expect_all_lines(self, out, lines):
        """Each was got once, by whatever node."""
        said = [line.rsplit(" at ", 1) for line in out.splitlines()]
        self.assertEqual(sorted(word for word, _ in said), sorted(lines))
        self.assertLessEqual({node for _, node in said}, {str(k) for k in range(NODES)})

    def expect_lines_in_order(self, lines):
        """1,000 of each node, whole, in its order."""
        by_nodes = collections.defaultdict(list)
        for line in lines:
            number, _, node, text = line.replace(":", "").split()
            by_nodes[node].append(int(number))
            self.assertEqual(text, f"{int(number):050d}")
        self.assertEqual(by_nodes, {str(k): list(range(1000)) for k in range(NODES)})

    def test_lines_of_the_input_go_to_whoever_asks(self):
        lines = [f"line-{k}" for k in range(200)]
        done = run("lines", text="\n".join(lines))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.expect_all_lines(done.stdout, lines)
        self.assertEqual(run("lines-at-last", text="one\ntwo").stdout, "one at 2\ntwo at 2\n")

    def test_lines_come_out_whole_and_in_order(self):
        done = run("prints")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.expect_lines_in_order(done.stdout.splitlines())

    def test_output_goes_where_node_0_has_it(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("redirects", folder=folder)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "before\n", ""))
            with open(os.path.join(folder, "redirected"), encoding="utf-8") as file:
                text = file.read()
        self.assertTrue(text.startswith("first, "), text[:100])
        self.expect_lines_in_order(text[len("first, "):].splitlines())

    def test_death_of_node_0_ends_those_that_ask_it(self):
        reader, writer = os.pipe()  # an input that does not come
        with open(reader, "rb") as nothing, open(writer, "wb"):
            done = subprocess.run([TULLE, "run", "-n", str(NODES), "--", PROGRAM, "dies"], stdin=nothing, capture_output=True, text=True,
                                  timeout=PATIENCE)
        self.assertEqual(done.returncode, 128 + 9)
        self.assertIn("tulle: run: place 0: ended by signal 9", done.stderr)


class Option(unittest.TestCase):
    """`tulle run --io 0`: what programs print and read without a word of TNT."""

    expect_all_lines = Io.expect_all_lines

    def test_streams_share_the_input(self):
        words = [f"word-{k}" for k in range(300)]
        for options in (("--io", "0"), ("--set", "io=0")):
            done = run("streams", options=options, text="\n".join(words) + "\n")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.expect_all_lines(done.stdout, words)
        self.assertEqual(run("streams-at-last", options=["--io", "0"], text="one\ntwo").stdout, "one at 2\ntwo at 2\n")
        self.assertEqual(run("streams-at-last", text="one\n").stdout, "")

    def test_descriptors_read_the_input_of_place_0(self):
        self.assertEqual(run("reads", options=["--io", "0"], text="some text\n").stdout, "2: some text\n")
        self.assertEqual(run("reads", text="some text\n").stdout, "[2] 2: \n")

    def test_tags_may_be_asked_for(self):
        done = run("reads", options=["--io", "0", "--tags", "others"], text="some text\n")
        self.assertEqual(done.stdout, "[2] 2: some text\n")

    def test_lines_are_whole(self):
        done = run("streams", options=["--io", "0"], text="".join(f"{k:0200d}\n" for k in range(2000)))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.expect_all_lines(done.stdout, [f"{k:0200d}" for k in range(2000)])

    def test_start_before_main_promises_no_memory_that_is_not_there(self):
        """At least so many bytes, or a refusal."""
        gib = 1 << 30
        self.assertEqual(run("starts", str(8 * gib)).stdout, "Success\n")
        for options, size, said in (((), 8 * gib, "Success"), ((), 512 * gib, os.strerror(errno.ENOMEM)),
                                    (("--set", "global_memory=512G"), 512 * gib, "Success")):
            done = run("starts", str(size), options=["--io", "0", *options])
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, said + "\n", ""))

    def test_nonsense_is_refused(self):
        done = run("reads", options=["--io", "7"])
        self.assertEqual(done.returncode, 2)
        self.assertIn("--io", done.stderr)


if __name__ == "__main__":
    unittest.main()
