# SPDX-License-Identifier: Apache-2.0
"""make_bad_input.py HEADER: a C program that calls each function of the header with arguments that make no sense, before the start, after it, in a
thread of its own and after the end; each row in a process of its own, which must end by itself. Prints it."""
import itertools
import re
import sys

PROTOTYPE = re.compile(r"TULLE_API\s+([^();]+?)\b(myth_\w+)\s*\(([^;]*?)\)(?:\s*__attribute__\(\(noreturn\)\))?;", re.S)
VALUES = {"int": ["-1", "0", "INT_MAX", "INT_MIN"], "unsigned int": ["0", "UINT_MAX"], "long": ["-1", "0"], "size_t": ["0", "SIZE_MAX"],
          "myth_key_t": ["-1", "INT_MAX"], "myth_wls_key_t": ["UINT_MAX"]}
# They would take as long as they say.
CALM = {"myth_sleep": ["0"], "myth_usleep": ["0"]}
ENDS_ITS_THREAD = {"myth_exit"}  # and the program, in a thread of another kind


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def split_parameters(text):
    depth, part, parts = 0, "", []
    for c in " ".join(text.split()):
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
            continue
        depth += (c == "(") - (c == ")")
        part += c
    return [] if text.strip() == "void" else parts + [part]


def type_of(parameter):
    return re.sub(r"\s*\b\w+$", "", parameter.strip()).strip()


def values_of(function, parameter):
    kind = type_of(parameter)
    if function in CALM:
        return CALM[function]
    return VALUES.get(kind, ["0"])  # what is not a number is a pointer, a handle or a function


def calls(header):
    for match in PROTOTYPE.finditer(without_comments(header)):
        function, parameters = match[2], split_parameters(match[3])
        choices = [values_of(function, p) for p in parameters]
        width = max((len(c) for c in choices), default=1)
        rows = itertools.product(*choices) if len(choices) <= 3 else [[c[k % len(c)] for c in choices] for k in range(width)]
        for row in rows:
            yield function, ", ".join(row)


HEAD = """#include "isolated_rows.h"

#include <myth/myth.h>

#include <limits.h>
#include <stdint.h>
"""


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = list(calls(file.read()))
    print(HEAD)
    for k, (function, arguments) in enumerate(rows):
        print(f"static void row_{k}(void) {{ {function}({arguments}); }}")
    print("static const struct row rows[] = {")
    for k, (function, arguments) in enumerate(rows):
        print(f'    {{"{function}({arguments})", &row_{k}, {int(function in ENDS_ITS_THREAD)}}},')
    print("};\nint main(void) { return run_rows(rows, sizeof rows / sizeof rows[0]); }")


if __name__ == "__main__":
    main()
