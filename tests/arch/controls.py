#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the parts of the tests of the context switch that differ by architecture, and checks that the tests notice faults.

    controls.py registers ARCH HEADER             write the C++ that pins each preserved register
    controls.py list ARCH                         the controls: name|program|test|backend, one a line
    controls.py break ARCH CONTROL SOURCE FOLDER  write the source files with the fault to FOLDER/arch/...
    controls.py run TEST COMMAND...               succeed if the test program COMMAND fails in TEST"""
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import architectures  # noqa: E402

FOLDER_OF = {"ppc64le": "ppc64"}
SECONDS = 40
RUNS = 20

HEAD = """// SPDX-License-Identifier: Apache-2.0
// Made by tests/arch/controls.py: a function for each kind of preserved registers. Each puts values into all of them, yields, and counts the wrong
// ones then.
#pragma once

#include <cstdint>

using vector_word = __attribute__((vector_size(16))) unsigned;
"""
VALUE = {
    architectures.INTEGER: ("seed * 31 + {n}", "q{n} != seed * 31 + {n}"),
    architectures.FLOATING: ("static_cast<double>(seed + {n}) * 0.5", "q{n} != static_cast<double>(seed + {n}) * 0.5"),
    architectures.VECTOR: ("vector_word{{static_cast<unsigned>(seed) + {n}, 1, 2, 3}}", "q{n}[0] != static_cast<unsigned>(seed) + {n} || q{n}[3] != 3"),
}


def function(name, kind, constraint, registers):
    value, is_wrong = VALUE[kind]
    lines = [f"template <class Fiber> [[gnu::noinline]] int {name}(Fiber& self, std::uintptr_t seed) {{"]
    lines += [f'    register {kind} q{n} asm("{register}") = {value.format(n=n)};' for n, register in enumerate(registers)]
    pins = [f'    asm volatile("" : "+{constraint}"(q{n}));' for n in range(len(registers))]
    lines += pins + ["    self.yield();"] + pins + ["    int wrong = 0;"]
    lines += [f"    wrong += {is_wrong.format(n=n)} ? 1 : 0;" for n in range(len(registers))]
    return "\n".join(lines + ["    return wrong;", "}", ""])


def write_registers(architecture, header):
    calls, text = [], HEAD
    for kind, constraint, registers in architectures.PRESERVED[architecture]:
        name = f"wrong_{kind.replace('std::', '').removesuffix('_t')}_registers"
        is_vector = kind == architectures.VECTOR
        text += "\n#if defined(__ALTIVEC__)\n" * is_vector + "\n" * (not is_vector) + function(name, kind, constraint, registers)
        text += f"#else\ntemplate <class Fiber> int {name}(Fiber&, std::uintptr_t) {{ return 0; }}\n#endif\n" * is_vector
        calls.append(f"{name}(self, seed)")
    text += "\ntemplate <class Fiber> int wrong_registers(Fiber& self, std::uintptr_t seed) {\n"
    text += f"    return {' + '.join(calls)};\n}}\n\nconstexpr int k_kinds_of_registers = {len(calls)};\n"
    pathlib.Path(header).write_text(text, encoding="utf-8")


def list_controls(architecture):
    for control in architectures.CONTROLS[architecture]:
        files = {file for file, _, _ in control.edits}
        print(f"{control.name}|{control.program}|{control.test}|{'ucontext' if architectures.FIXES in files else 'asm'}")


def broken(content, path, edits):
    for text, replacement in edits:
        if content.count(text) != 1:
            sys.exit(f"controls.py: '{text}' is {content.count(text)} times in {path}; say in architectures.py what to break instead")
        content = content.replace(text, replacement)
    return content


def write_fault(architecture, name, source, folder):
    folder_name = FOLDER_OF.get(architecture, architecture)
    origin = pathlib.Path(source) / "src/arch" / folder_name
    control = next(c for c in architectures.CONTROLS[architecture] if c.name == name)
    target = pathlib.Path(folder) / "arch" / folder_name
    target.mkdir(parents=True, exist_ok=True)
    for path in (origin / file for file in (architectures.SWITCH, architectures.ENTRY, architectures.FIXES)):
        if path.exists():
            edits = [edit[1:] for edit in control.edits if edit[0] == path.name]
            (target / path.name).write_text(broken(path.read_text(encoding="utf-8"), path, edits), encoding="utf-8")


def run_once(test, command):
    try:
        done = subprocess.run([*command, f"--gtest_filter={test}"], capture_output=True, timeout=SECONDS, check=False, text=True, errors="replace")
    except subprocess.TimeoutExpired as expired:
        done = subprocess.CompletedProcess(command, 124, (expired.stdout or b"").decode(errors="replace"), "")
    if "[ RUN      ]" not in done.stdout:
        sys.exit(f"controls.py: {test} did not begin:\n{done.stdout}{done.stderr}")
    return done


def run_control(test, *command):
    """Some faults show only where a signal comes within a few instructions: nearly each run has one, but not each beside much other work."""
    for _ in range(RUNS):
        done = run_once(test, command)
        if done.returncode != 0:
            print(done.stdout, done.stderr, sep="")
            return
    sys.exit(f"controls.py: {test} did not notice the fault in {RUNS} runs")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    {"registers": write_registers, "list": list_controls, "break": write_fault, "run": run_control}[sys.argv[1]](*sys.argv[2:])
