#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions, system calls and traps into the kernel per switch, for each architecture that has a compiler and an emulator here: what
scripts/switch-counts prints. Skipped where there is none."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from limits import MOST_INSTRUCTIONS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/switch-counts"
INSTRUCTIONS, CALLS, TRAPS = "instructions/switch", "system calls/switch", "kernel traps/switch"
TRAP = re.compile(r"t(a|n|ne|e|g|le|ge|l|gu|leu|cc|cs|pos|neg|vc|vs)")  # Tcc of every condition
SPARC = {"sparc64": ("sparc64", []), "sparc": ("sparc", ["-m32"])}  # folder in src/arch, options of the compiler
V8 = {"V8": ("sparc", ["-m32", "-mcpu=v8"])}


def switch_counts(*words, **how):
    return subprocess.run([str(SCRIPT), *words], capture_output=True, text=True, check=False, **how)


def counts():
    """{(architecture, library): {unit: value}} of every architecture that can be counted on."""
    done = switch_counts("--json")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    found = {}
    for row in map(json.loads, done.stdout.splitlines()):
        found.setdefault((row["architecture"], row["library"]), {})[row["unit"]] = row["value"]
    return found


class SwitchCounts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.counted = counts()
        cls.architectures = {architecture for architecture, _ in cls.counted}

    def test_every_architecture_that_is_ready_is_counted(self):
        self.assertEqual(self.architectures, set(switch_counts("--list").stdout.split()))
        self.assertLessEqual(self.architectures, set(MOST_INSTRUCTIONS))

    def test_assembly_takes_few_instructions(self):
        for architecture in self.architectures:
            with self.subTest(architecture):
                self.assertLessEqual(self.counted[architecture, "tulle"][INSTRUCTIONS], MOST_INSTRUCTIONS[architecture])
                self.assertGreater(self.counted[architecture, "tulle"][INSTRUCTIONS], 5)

    def test_assembly_does_not_enter_the_kernel(self):
        for architecture in self.architectures:
            with self.subTest(architecture):
                self.assertEqual(self.counted[architecture, "tulle"][CALLS], 0)
                self.assertEqual(self.counted[architecture, "tulle"][TRAPS], 0)

    def test_flushing_by_trap_is_one_trap_and_no_system_call(self):
        for architecture, library in self.counted:
            if library == "tulle_trap":
                with self.subTest(architecture):
                    row = self.counted[architecture, library]
                    self.assertEqual((row[CALLS], row[TRAPS]), (0, 1))
                    self.assertLessEqual(row[INSTRUCTIONS], MOST_INSTRUCTIONS[architecture])

    def test_the_c_library_takes_more(self):
        for architecture in self.architectures:
            with self.subTest(architecture):
                for library in ("tulle_ucontext", "tulle_setjmp"):
                    self.assertGreater(self.counted[architecture, library][INSTRUCTIONS], self.counted[architecture, "tulle"][INSTRUCTIONS])

    def test_ucontext_enters_the_kernel_to_keep_the_signal_mask(self):
        for architecture in self.architectures:
            with self.subTest(architecture):
                row = self.counted[architecture, "tulle_ucontext"]
                self.assertGreaterEqual(row[TRAPS], 2 if architecture == "sparc64" else 1)  # of its own there: no system call
                self.assertGreaterEqual(row[TRAPS], row[CALLS])
                self.assertEqual(row[CALLS] > 0, architecture != "sparc64")


class Sparc(unittest.TestCase):
    """A trap that flushes register windows is no system call: so that none is in the switch is also read from its code."""

    def code(self, target, function):
        """The mnemonics of a function of the switch."""
        architecture, options = target
        with tempfile.TemporaryDirectory() as folder:
            compiled = os.path.join(folder, "switch.o")
            source = ROOT / f"src/arch/{architecture}/asm_backend.cpp"
            subprocess.run(["sparc64-linux-gnu-g++", *options, "-O2", "-std=c++20", f"-I{ROOT / 'src'}", "-c", str(source), "-o", compiled],
                           check=True)
            text = subprocess.run(["sparc64-linux-gnu-objdump", "--disassemble=" + function, "--no-show-raw-insn", compiled], check=True,
                                  capture_output=True, text=True).stdout
        return re.findall(r"^ +[0-9a-f]+:\s+(\w+)", text, re.M)

    def setUp(self):
        for tool in ("g++", "objdump"):
            if not shutil.which("sparc64-linux-gnu-" + tool):
                self.skipTest(f"sparc64-linux-gnu-{tool} is not installed")

    def test_the_switch_has_a_flush_and_no_trap(self):
        for name, target in SPARC.items():
            with self.subTest(name):
                code = self.code(target, "tulle_switch_flushing")
                self.assertEqual(code.count("flushw"), 1, code)
                self.assertEqual(code.count("restore"), 1, code)  # all of it was read
                self.assertFalse([word for word in code if TRAP.fullmatch(word)], code)

    def test_the_switch_to_compare_with_has_a_trap_instead(self):
        for name, target in {**SPARC, **V8}.items():
            with self.subTest(name):
                code = self.code(target, "tulle_switch_trapping")
                self.assertEqual((code.count("ta"), code.count("flushw"), code.count("restore")), (1, 0, 1), code)

    def test_processors_of_v8_have_no_flush_but_one_trap(self):
        code = self.code(V8["V8"], "tulle_switch_flushing")
        self.assertEqual((code.count("ta"), code.count("flushw"), code.count("restore")), (1, 0, 1), code)


class Usage(unittest.TestCase):
    def test_an_unknown_architecture_is_an_error(self):
        done = switch_counts("vax")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no architecture 'vax'; there are x86_64, aarch64,", done.stderr)

    def test_the_table_has_what_the_objects_have(self):
        name = switch_counts("--list").stdout.split()[0]
        done = switch_counts(name)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(rf"^\| {name} \| (\w+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]*) \| ([\d.]+) \| ([\d.]+) \|$", done.stdout, re.M)
        self.assertLessEqual({"asm", "ucontext", "setjmp"}, {row[0] for row in rows})
        self.assertEqual(rows[0][2:4], ("1.00", str(MOST_INSTRUCTIONS[name])))

    def test_the_list_of_objects_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(SCRIPT), "--list", "--json", "s390x"], capture_output=True, text=True, check=True,
                                  env={**os.environ, "PATH": folder})
            self.assertEqual(json.loads(done.stdout), {"architecture": "s390x", "missing": "s390x-linux-gnu-g++"})
            done = subprocess.run([sys.executable, str(SCRIPT), "s390x"], capture_output=True, text=True, check=False,
                                  env={**os.environ, "PATH": folder})
            self.assertEqual(done.returncode, 1)
            self.assertIn("s390x needs s390x-linux-gnu-g++, which is not installed; `scripts/bootstrap cross s390x` installs it", done.stderr)


if __name__ == "__main__":
    if not switch_counts("--list").stdout.strip():
        print("skipped: no architecture has a compiler and an emulator here")
        sys.exit(77)
    unittest.main()
