#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions and system calls per switch, for each architecture that has a compiler and an emulator here: what scripts/switch-counts prints. Skipped
where there is none."""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/switch-counts"

# Of an out-of-line switch that saves all that the ABI asks for. What is inlined has to be better.
MOST_INSTRUCTIONS = {"x86_64": 26.5, "sparc64": 19.5, "sparc": 18.5, "aarch64": 35.5, "ppc64le": 146.8, "ppc64": 144.8, "riscv64": 64.0,
                     "i386": 26.5, "armhf": 19.5, "s390x": 28.5}


def counts():
    """{(architecture, backend): (instructions, system calls)} of every architecture that can be counted on."""
    done = subprocess.run([str(SCRIPT)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    rows = re.findall(r"^\| (\w+) \| (\w+) \| ([\d.]+) \| ([\d.]+) \|$", done.stdout, re.M)
    return {(architecture, backend): (float(instructions), float(calls)) for architecture, backend, instructions, calls in rows}


class SwitchCounts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.counted = counts()

    def test_assembly_takes_few_instructions_and_no_system_call(self):
        seen = 0
        for (architecture, backend), (instructions, calls) in self.counted.items():
            if backend not in ("asm", "trap"):
                continue
            with self.subTest(f"{architecture} {backend}"):
                seen += 1
                self.assertLessEqual(instructions, MOST_INSTRUCTIONS[architecture])
                self.assertEqual(calls, 0)
        self.assertGreater(seen, 0)

    def test_the_c_library_takes_more(self):
        for architecture in {name for name, _ in self.counted}:
            with self.subTest(architecture):
                for backend in ("ucontext", "setjmp"):
                    self.assertGreater(self.counted[architecture, backend][0], self.counted[architecture, "asm"][0])

    def test_ucontext_keeps_the_signal_mask_by_system_calls(self):
        for (architecture, backend), (_, calls) in self.counted.items():
            if backend == "ucontext" and architecture != "sparc64":  # by a trap of its own there
                with self.subTest(architecture):
                    self.assertGreaterEqual(calls, 1)

    def test_an_unknown_architecture_is_an_error(self):
        done = subprocess.run([str(SCRIPT), "vax"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no architecture 'vax'", done.stderr)


if __name__ == "__main__":
    if not subprocess.run([str(SCRIPT), "--list"], capture_output=True, check=True).stdout.strip():
        print("skipped: no architecture has a compiler and an emulator here")
        sys.exit(77)
    unittest.main()
