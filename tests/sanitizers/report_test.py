# SPDX-License-Identifier: Apache-2.0
"""report_test.py TOOL NAME COMMAND...: what a tool that looks for errors says of a program with threads that block.

TOOL is valgrind, address or thread; the last two are compiled into the program. NAME is the program's. The report must name the error, and
the functions of the thread that made it; of a program without errors there must be none.
"""
import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77  # for ctest
VALGRIND = ["valgrind", "--tool=memcheck", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"]

# What the report has, in this order; None: nothing is wrong.
EXPECTED = {
    ("valgrind", "blocking"): None,
    ("valgrind", "heap_overflow"): (r"Invalid write of size 4", r"at .*write_behind_the_end", r"by .*work", r"0 bytes after a block of size 40",
                                    r"by .*make_the_array"),
    ("valgrind", "uninitialised"): (r"depends on uninitialised value", r"at .*decide_by", r"by .*work"),
    ("address", "blocking"): None,
    ("address", "heap_overflow"): (r"heap-buffer-overflow", r"#0 .*write_behind_the_end", r"#1 .*work", r"allocated by", r"make_the_array"),
    ("address", "use_after_return"): (r"stack-use-after-return", r"#0 .*read_it", r"#1 .*work", r"in frame", r"#0 .*address_of_local"),
    ("thread", "blocking"): None,
    ("thread", "data_race"): (r"data race", r"#0 .*(first|second)_writer", r"#1 .*write_at_once", r"Previous write of size 8",
                              r"#0 .*(first|second)_writer", r"#1 .*write_at_once"),
}
# Threads that block at once. ThreadSanitizer can tell 8,128 apart; Valgrind runs everything fifty times slower.
THREADS = {"valgrind": 200, "address": 5000, "thread": 1500}


def runs_of(tool, name):
    """The settings of the tool to try."""
    if tool == "address":
        after_return = ["detect_stack_use_after_return=1"]
        return after_return if name == "use_after_return" else ["detect_stack_use_after_return=0", *after_return]
    return [""]


def run(tool, name, command, setting):
    """The exit code and all output."""
    environment = dict(os.environ)
    if tool == "address":
        environment["ASAN_OPTIONS"] = ":".join([environment.get("ASAN_OPTIONS", ""), setting])
    words = (VALGRIND if tool == "valgrind" else []) + command + ([str(THREADS[tool])] if name == "blocking" else [])
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=240, check=False)
    return done.returncode, done.stdout


def problem(expected, code, output):
    """What is wrong with the report, or None."""
    if expected is None:
        if "tulle: " in output:
            return "the library says something, although nothing is wrong"
        return None if code == 0 and "right" in output else f"ends with {code}, although nothing is wrong"
    if code == 0:
        return "the error was not found"
    rest = output
    for pattern in expected:
        found = re.search(pattern, rest)
        if found is None:
            return f"nothing in the report matches '{pattern}' where it should"
        rest = rest[found.end():]
    return None


def main():
    tool, name, *command = sys.argv[1:]
    if tool == "valgrind" and shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed (scripts/bootstrap installs it)")
        sys.exit(SKIPPED)
    for setting in runs_of(tool, name):
        code, output = run(tool, name, command, setting)
        wrong = problem(EXPECTED[tool, name], code, output)
        if wrong is not None:
            sys.exit(f"{output[-12000:]}\n{tool} {setting}: {name}: {wrong}")


main()
