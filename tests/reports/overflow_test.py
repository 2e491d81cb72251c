# SPDX-License-Identifier: Apache-2.0
"""What is printed when a thread overflows its stack, and that other faults are left as they were. Argument: the path of the program that
overflows; EMULATOR in the environment is what runs it, words separated by ";"."""
import os
import re
import signal
import subprocess
import sys
import unittest

EMULATOR = os.environ.get("EMULATOR")
PROGRAM = sys.argv[1]
del sys.argv[1:]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "overflow.cpp")
SANITIZER = subprocess.run([PROGRAM, "sanitizer"], capture_output=True, text=True, check=True).stdout.strip()


def run(way, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    command = [*EMULATOR.split(";"), PROGRAM, way] if EMULATOR else [PROGRAM, way]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False, preexec_fn=no_core,
                          env={**kept, "TULLE_WORKERS": "2", "TULLE_STACK_SIZE": "64K", **variables})


def no_core():
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def line_of(mark):
    with open(SOURCE, encoding="utf-8") as source:
        return next(number for number, content in enumerate(source, 1) if f"line: {mark}" in content)


@unittest.skipIf(SANITIZER, "a sanitizer reports overflows itself")
class Overflow(unittest.TestCase):
    def report(self, way, size=65536, **variables):
        done = run(way, **variables)
        self.assertEqual(done.returncode, -signal.SIGSEGV, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("overflowed its stack"), 1, done)
        self.assertRegex(done.stderr, rf"\Atulle: .* overflowed its stack of {size} bytes \(process \d+\)\n")
        return done.stderr

    def advised(self, text):
        return re.search(r"give it (\d+) bytes or more: .*?=(\d+[KMG])", text).groups()

    def check_recursion(self, text):
        self.assertRegex(text, r"(?m)^    #0 +.*recurse.* at \S*overflow\.cpp:\d+\n    #1 +.*recurse")
        self.assertIn("\n    ...\n", text)

    def test_name_site_and_stack(self):
        text = self.report("spawned")
        self.assertRegex(text, r'\Atulle: thread \d+ "deep one" overflowed')
        self.assertRegex(text, rf"(?m)^    spawned in .*spawned.* at \S*overflow\.cpp:{line_of('spawned')}$")
        self.check_recursion(text)

    def test_what_it_advises_helps(self):
        for way in ("spawned", "forked", "huge", "after_a_wait"):
            size = "64K"
            for _ in range(4):  # deep recursion: it does not know how deep
                done = run(way, TULLE_STACK_SIZE=size)
                if done.returncode == 0:
                    break
                size = self.advised(done.stderr)[1]
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""), way)
            self.assertNotEqual(size, "64K")

    def test_stack_of_its_own(self):
        text = self.report("own_stack", TULLE_STACK_SIZE="256K")
        self.assertRegex(text, r"(?m)^    give it 131072 bytes or more: stack_size=128K where it is spawned$")
        self.assertRegex(text, rf"(?m)^    spawned in .*own_stack.* at \S*overflow\.cpp:{line_of('own_stack')}$")

    def test_detached(self):
        self.assertRegex(self.report("detached"), r"(?m)^    spawned in .*detached")

    def test_stolen_fork(self):
        text = self.report("forked")
        self.assertRegex(text, r"\Atulle: a forked thread overflowed")
        self.assertRegex(text, r"(?m)^    forked as \(?(?!tulle::child).*forked\(\)")
        self.check_recursion(text)

    def test_on_the_stack_of_who_joins_it(self):
        text = self.report("in_place", TULLE_WORKERS="1", TULLE_MAX_SUBSTITUTES="off")  # nobody else takes it
        self.assertRegex(text, r'\Atulle: thread \d+ "inner" overflowed .*\n    in the place of thread \d+, which joins it and whose stack it is\n')
        self.assertRegex(text, r"TULLE_STACK_SIZE=128K\n")  # an attribute of the inner one would not help

    def test_after_a_wait(self):
        self.check_recursion(self.report("after_a_wait"))

    def test_c_function(self):
        self.assertRegex(self.report("by_c"), rf"(?m)^    spawned in .*by_c.* at \S*overflow\.cpp:{line_of('by_c')}$")

    def test_huge_frame_that_is_probed(self):
        text = self.report("huge")
        self.assertGreater(int(self.advised(text)[0]), 4 << 20, text)
        self.assertGreater(int(re.search(r"the largest frame takes (\d+) bytes or more: .*huge_frame", text)[1]), (4 << 20) - 8192)
        self.assertNotIn("past its end", text)
        self.assertRegex(text, r"(?m)^    #0 +.*huge_frame.* at \S*overflow\.cpp:\d+$")

    def test_frame_that_steps_over_the_guard(self):
        text = self.report("unprobed")
        self.assertRegex(text, r"(?m)^    past its end, into what belongs to others; compile with -fstack-clash-protection")
        self.assertRegex(text, r"the largest frame takes (9\d{4}|1\d{5}) bytes or more: step_over_the_guard")
        self.assertEqual(self.advised(text)[1], "256K")

    def test_each_kind_of_guard(self):
        for guard in ("auto", "mprotect"):
            self.check_recursion(self.report("spawned", TULLE_GUARD=guard))
        text = self.report("unprobed", TULLE_GUARD="none")
        self.assertIn("past its end", text)

    def test_without_deadlock_reports(self):
        self.report("spawned", TULLE_DEADLOCK="off")

    def test_in_a_child_process(self):
        self.check_recursion(self.report("child_process"))

    def system_report(self, way, workers="2"):
        done = run(way, TULLE_WORKERS=workers, TULLE_MAX_SUBSTITUTES="off")
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGSEGV, ""), done)
        found = re.match(r"tulle: (.*) overflowed its stack of (\d+) bytes \(process \d+\)\n", done.stderr)
        self.assertIsNotNone(found, done)
        self.assertEqual(done.stderr.count("overflowed its stack"), 1, done)
        self.assertLess(abs(int(found[2]) - (8 << 20)), 1 << 20)
        self.check_recursion(done.stderr)
        return found[1], done.stderr

    def test_stack_of_main(self):
        name, text = self.system_report("of_main")
        self.assertRegex(name, r"\Athread \d+\Z")
        self.assertIn("raise its limit (ulimit -s)", text)

    def test_thread_that_runs_as_a_call_of_main(self):
        name, text = self.system_report("joined_by_main", workers="1")  # another one might run the thread that main joins
        self.assertRegex(name, r'\Athread \d+ "deep one"\Z')
        self.assertRegex(text, r"(?m)^    in the place of thread \d+, which joins it and whose stack it is$")
        self.assertRegex(text, r"(?m)^    or give the thread one of its own, .*: stack_size=16M where it is spawned$")
        self.assertRegex(text, r"(?m)^    spawned in .*joined_by_main")
        self.system_report("forked_by_main", workers="1")

    def test_stack_of_a_foreign_thread(self):
        self.assertIn("an OS thread of the program's own", self.system_report("of_foreign_thread")[1])

    def test_two_at_once(self):
        for _ in range(5):
            done = run("two_at_once")
            self.assertEqual(done.returncode, -signal.SIGSEGV, done)
            self.assertEqual(done.stderr.count("overflowed its stack"), 1, done)


@unittest.skipIf(SANITIZER, "a sanitizer has a handler of its own")
class OtherFaults(unittest.TestCase):
    def check_plain(self, way, **variables):
        done = run(way, **variables)
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGSEGV, ""), done)
        self.assertEqual(done.stderr, "")

    def test_null_pointer(self):
        self.check_plain("null_pointer")

    def test_null_pointer_on_the_stack_of_main(self):
        self.check_plain("wild_write_on_main")

    def test_wrong_pointer_into_the_guard(self):
        self.check_plain("wild_write_into_guard")

    def test_sent(self):
        self.check_plain("raised")
        self.check_plain("raised_by_thread")

    def test_the_signal_is_the_same(self):
        for way, code, address in (("null_pointer", "SEGV_MAPERR", "0x10"), ("raised_by_thread", "SI_TKILL", "0")):
            done = run("look_at_end_of_" + way)
            self.assertEqual((done.returncode, done.stdout), (0, f"{code} {address}\n"), done)

    def test_own_handler(self):
        for way in ("own_handler", "own_handler_before"):
            self.assertEqual(run(way).returncode, 9, way)

    def test_nothing_stays_after_finalize(self):
        self.assertEqual(run("after_the_end").returncode, 8)


@unittest.skipUnless(SANITIZER, "for builds with a sanitizer")
class Sanitizer(unittest.TestCase):
    def test_its_own_report(self):
        for way in ("spawned", "forked"):
            done = run(way)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, rf"ERROR: {SANITIZER}: stack-overflow on address", way)
            self.assertNotIn("overflowed its stack", done.stderr)


unittest.main()
