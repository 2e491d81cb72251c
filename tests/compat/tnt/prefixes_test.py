#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program for POSIX threads becomes one for TNT when prefixes are changed and attributes dropped: bench/tnt-fft has both. Argument: the source folder."""
import os
import re
import sys
import unittest

FOLDER = os.path.join(os.path.abspath(sys.argv.pop(1)), "bench", "tnt-fft")
ATTRIBUTES = re.compile(r"(pthread_(?:create|barrier_init)\(&[^,]+, )nullptr, ")
STARTED = '    setenv("TULLE_WORKERS", std::to_string(s.workers).c_str(), 1);\n    if (tnt_init(0) != 0) return 2;\n'


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    return re.sub(r"(?m)^//.*\n", "", text)


class Prefixes(unittest.TestCase):
    def test_nothing_else_differs(self):
        ported = ATTRIBUTES.sub(r"\1", without_comments(read("pthread.cpp")))
        ported = ported.replace('"pthread"', '"tulle_tnt"').replace("<pthread.h>", "<tnt.h>").replace("pthread_", "tnt_")
        program = without_comments(read("tulle_tnt.cpp"))
        self.assertIn(STARTED, program)
        # A shorter name may leave room for more on its line.
        self.assertEqual(program.replace(STARTED, "").split(), ported.split())
        self.assertGreater(program.count("tnt_"), 8)


if __name__ == "__main__":
    unittest.main()
