#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate.py refuses a table that does not try what the headers declare."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HEADER = """
typedef int (*callback_f)(void*);
typedef enum { one, two } kind;
struct thing { int (*member)(int); };
int first(int* pointer, unsigned long size);
static inline void second(callback_f f, void* argument) { f(argument); }
double third(void);
""" + "".join(f"void filler_{k}(void);\n" for k in range(20))
TABLE = """first | w:&x 8;0=BAD | 0 | BAD
second | f:call NULL
third | | *
""" + "".join(f"filler_{k} |\n" for k in range(20))


class Generate(unittest.TestCase):
    def generate(self, header=HEADER, table=TABLE):
        """(what it complains of, what it writes)"""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "preprocessed").write_text(f'# 1 "/elsewhere.h"\nint foreign(int*);\n# 1 "{folder}/own.h"\n{header}', encoding="utf-8")
            (folder / "table").write_text(table, encoding="utf-8")
            done = subprocess.run([sys.executable, "-B", str(HERE / "generate.py"), str(folder / "preprocessed"), name, str(folder / "table"),
                                   str(folder / "out")], capture_output=True, text=True, check=False)
            written = folder / "out"
            return done.stderr, written.read_text(encoding="utf-8") if written.exists() else ""

    def test_calls_with_each_value(self):
        complaint, written = self.generate()
        self.assertEqual(complaint, "")
        for call in ("(first)(NULL, 8)", "(first)(UNALIGNED, 8)", "(first)(BEYOND, 8)", "(first)(&x, 0)", "(first)(&x, 8)", "(second)(NULL, NULL)"):
            self.assertIn(call, written)
        self.assertNotIn("foreign", written)

    def test_new_function_needs_a_line(self):
        self.assertIn("fourth has no line", self.generate(header=HEADER + "int fourth(void);\n")[0])

    def test_function_that_is_gone(self):
        self.assertIn("there is no function fourth", self.generate(table=TABLE + "fourth | | 0\n")[0])

    def test_new_parameter(self):
        self.assertIn("first has 3 parameters", self.generate(header=HEADER.replace("size)", "size, int more)"))[0])

    def test_pointer_that_is_not_tried(self):
        self.assertIn("'int* pointer'", self.generate(table=TABLE.replace("w:&x", "&x"))[0])
        self.assertIn("'callback_f f'", self.generate(table=TABLE.replace("f:call", "call"))[0])
        self.assertEqual(self.generate(table=TABLE.replace("second |", "unchecked second |").replace("f:call", "call"))[0], "")

    def test_headers_without_functions(self):
        self.assertIn("only 0 functions", self.generate(header="", table="")[0])


unittest.main()
