# SPDX-License-Identifier: Apache-2.0
"""expect_error.py SOURCE -- COMPILER ARGS...

Succeeds if the compiler refuses SOURCE with an error message that matches the `// expect: REGEX` of its first line. Only
messages count, not the source lines that a compiler quotes below them. A second line `// options: ...` has more arguments.
"""
import re
import subprocess
import sys


def expected_pattern(source):
    with open(source, encoding="utf-8") as file:
        match = re.match(r"// expect: (.+)", file.readline().rstrip("\n"))
    if not match:
        sys.exit(f"{source}: the first line must be '// expect: REGEX'")
    return re.compile(match.group(1))


def more_options(source):
    with open(source, encoding="utf-8") as file:
        match = re.match(r"// options: (.+)", file.readlines()[1].rstrip("\n"))
    return match.group(1).split() if match else []


def main():
    source, separator, *compiler = sys.argv[1:]
    if separator != "--" or not compiler:
        sys.exit(__doc__)
    pattern = expected_pattern(source)
    result = subprocess.run([*compiler, *more_options(source), source], capture_output=True, text=True, check=False)
    if result.returncode == 0:
        sys.exit(f"{source}: compiles, but must be refused with an error like '{pattern.pattern}'")
    errors = [line for line in result.stderr.splitlines() if re.search(r"\berror: ", line)]
    if not any(pattern.search(line) for line in errors):
        sys.exit(f"{source}: no error matches '{pattern.pattern}'; the compiler said:\n{result.stderr}")


main()
