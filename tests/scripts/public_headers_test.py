# SPDX-License-Identifier: Apache-2.0
"""What the public headers cost who includes them: none includes a standard header that takes a compiler long and that it hardly needs, and without
optimization a fork and its join call nothing but what the program gives them. `python3 public_headers_test.py ROOT [COMPILER]`"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Each was in <tulle/tulle.hpp> once; all of them together were four tenths of the time that it took.
AVOIDED = {
    "chrono": "calendars and formatting, with the streams these need: include <tulle/detail/chrono.hpp>",
    "format": "as <iostream>",
    "fstream": "as <iostream>",
    "functional": "std::function, hash tables, searchers: include <tulle/detail/invoke.hpp>",
    "future": "shared states of its own: let the library throw std::future_error",
    "iomanip": "as <iostream>",
    "iostream": "streams, locales and an object that is made before main",
    "map": "whoever sends one includes it (wire.hpp names none)",
    "random": "whoever draws numbers includes it",
    "ranges": "views, which nothing takes",
    "regex": "as <iostream>, and itself",
    "set": "as <map>",
    "sstream": "as <iostream>",
    "thread": "OS threads are the library's",
    "unordered_map": "as <map>",
    "unordered_set": "as <map>",
}
MAY = {"detail/chrono.hpp": "chrono", "detail/invoke.hpp": "functional"}  # for other libraries than GNU's

FIB = """
#include <tulle/fork.hpp>
long fib(long n) noexcept {
    if (n < 2) return n;
    auto a = tulle::fork([n]() noexcept { return fib(n - 1); });
    long const b = fib(n - 2);
    return a.join() + b;
}
"""


def heavy_includes(headers):
    found = []
    for path in sorted(headers.rglob("*.hpp")):
        name = str(path.relative_to(headers))
        for header in re.findall(r"^\s*#\s*include <(\w+)>", path.read_text(), re.MULTILINE):
            if header in AVOIDED and MAY.get(name) != header:
                found.append(f"tulle/{name} includes <{header}>: {AVOIDED[header]}")
    return found


def called_without_optimization(root, compiler):
    """What `fib` calls, itself apart."""
    with tempfile.TemporaryDirectory() as folder:
        source, compiled = pathlib.Path(folder, "fib.cpp"), pathlib.Path(folder, "fib.o")
        source.write_text(FIB)
        subprocess.run([compiler, "-std=c++20", "-O0", "-I", root / "include", "-c", source, "-o", compiled], check=True)
        names = subprocess.run(["nm", "--demangle", compiled], check=True, capture_output=True, text=True).stdout
    return [name for name in names.splitlines() if re.search(r"std::atomic<|memory_order|native_machine|deque_front<.*>::|current_deque", name)
            and not re.search(r"_cold|drop_|join_cold", name)]


def main():
    root = pathlib.Path(sys.argv[1])
    compiler = sys.argv[2] if len(sys.argv) > 2 else "c++"
    problems = heavy_includes(root / "include" / "tulle")
    problems += [f"without optimization, a fork calls {name}" for name in called_without_optimization(root, compiler)]
    print("\n".join(problems) or "public headers: none of the avoided ones; a fork without optimization calls no wrapper")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
