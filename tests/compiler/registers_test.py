# SPDX-License-Identifier: Apache-2.0
"""The part of the library that checks call uses no vector registers, which hold the program's values then, and has the hints for processors that make a miss short.
`python3 registers_test.py OBJECT...`"""
import pathlib
import re
import subprocess
import sys
import unittest

OBJECTS = [path for path in map(pathlib.Path, sys.argv[1:]) if path.suffix == ".o"]
del sys.argv[1:]
VECTOR = re.compile(r"%[xyz]mm\d|%k[0-7]\b|%st\b")
MEMORY = re.compile(r"R_X86_64_PLT32\s+(mem\w+)")
AT_START = re.compile(r"^(std|__gnu_cxx|tulle::dsm::become_host|tulle::dsm::(basic_host_memory<.*>|directory_memory)::(mapped|fail|basic_host_memory|directory_memory)|tulle::dsm::directory_host::directory_host)")


def functions(path):
    """(name, text) of each function of an object file."""
    listing = subprocess.run(["objdump", "-drC", path], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^[0-9a-f]+ <(.*)>:$", listing, flags=re.MULTILINE)
    return zip(parts[1::2], parts[2::2])


class Registers(unittest.TestCase):
    def test_none_is_used(self):
        self.assertGreaterEqual(len(OBJECTS), 4)
        for path in OBJECTS:
            found = list(functions(path))
            self.assertTrue(found, path)
            for name, text in found:
                self.assertIsNone(VECTOR.search(text), (path.name, name))

    def test_nor_by_functions_of_the_c_library(self):
        for path in OBJECTS:
            for name, text in functions(path):
                if not AT_START.match(name):
                    self.assertIsNone(MEMORY.search(text), (path.name, name))

    def test_hints_are_not_left_out(self):
        # A compiler may take a function that has nothing but hints for one without effects, and leave out all calls of it.
        [copies] = [path for path in OBJECTS if path.name.startswith("coherent_host.")]
        having = [name for name, text in functions(copies) if "prefetch" in text]
        for function in ("make_loadable", "write_back"):
            self.assertTrue(any(f"::{function}(" in name for name in having), (function, having))


unittest.main()
