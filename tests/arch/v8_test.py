#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The switch on processors of SPARC V8, which have no FLUSHW: a program without libraries on emulated processors with 7 and with 8 windows. Without
the trap that flushes the windows it must not work. Skipped where the compiler or the emulator is missing."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER, EMULATOR = "sparc64-linux-gnu-g++", "qemu-sparc"
OPTIONS = "-m32 -mcpu=v8 -O2 -std=c++20 -ffreestanding -fno-exceptions -fno-asynchronous-unwind-tables -fno-pie -no-pie -nostdlib -static".split()
PROCESSORS = ["TI SuperSparc II", "LEON3", "Fujitsu MB86904", "TI MicroSparc I"]
SOURCE = ROOT / "src/arch/sparc/asm_backend.cpp"


def run(switch, folder, processor):
    program = pathlib.Path(folder) / "program"
    sources = [str(ROOT / "tests/arch/v8/program.cpp"), str(switch)]
    subprocess.run([COMPILER, *OPTIONS, f"-I{ROOT / 'src'}", *sources, "-lgcc", "-o", str(program)], check=True)
    return subprocess.run([EMULATOR, "-cpu", processor, str(program)], capture_output=True, text=True, timeout=60, check=False)


class V8(unittest.TestCase):
    def test_contexts_take_turns(self):
        for processor in PROCESSORS:
            with self.subTest(processor), tempfile.TemporaryDirectory() as folder:
                done = run(SOURCE, folder, processor)
                self.assertEqual((done.stdout, done.returncode), ("V8: right\n", 0), done.stderr)

    def test_without_the_flush_they_do_not(self):
        with tempfile.TemporaryDirectory() as folder:
            text = SOURCE.read_text(encoding="utf-8")
            self.assertIn('TULLE_FLUSH_WINDOWS "ta 3"', text)
            broken = pathlib.Path(folder) / "broken.cpp"
            broken.write_text(text.replace('TULLE_FLUSH_WINDOWS "ta 3"', 'TULLE_FLUSH_WINDOWS "nop"'), encoding="utf-8")
            self.assertNotEqual(run(broken, folder, PROCESSORS[0]).returncode, 0)


if __name__ == "__main__":
    if not shutil.which(COMPILER) or not shutil.which(EMULATOR):
        print(f"skipped: {COMPILER} or {EMULATOR} is not installed")
        sys.exit(77)
    unittest.main()
