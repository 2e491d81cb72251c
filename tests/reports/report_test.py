# SPDX-License-Identifier: Apache-2.0
"""What is printed when all threads are blocked, or when a process is asked what its threads do. Arguments: the path of the program
that hangs, and that of `tulle` if it is built; EMULATOR in the environment is what runs the former, words separated by ";"."""
import ctypes
import faulthandler
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

EMULATOR = os.environ.get("EMULATOR")
HANG, *REST = sys.argv[1:]
del sys.argv[1:]
TULLE = REST[0] if REST else None
HANG_WITH_NDEBUG = os.environ.get("HANG_WITH_NDEBUG")
ADDRESS = r"0x[0-9a-f]+"
PATIENCE = 60  # seconds, for what must not hang
SANITIZER = subprocess.run([*(EMULATOR.split(";") if EMULATOR else []), HANG, "sanitizer"], capture_output=True, text=True,
                           check=True).stdout.strip()


signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a background job of a shell ignores it, and so would what is started here
faulthandler.dump_traceback_later(80)  # the runner says only that it took too long


def command(way, program=HANG):
    return [*EMULATOR.split(";")] + [program, way] if EMULATOR else [program, way]


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    return {**kept, "TULLE_WORKERS": "2", "TULLE_DEADLOCK_MS": "100", **variables}


def handles(child, number):
    """Whether the process has a handler for it by now."""
    with open(f"/proc/{child.pid}/status", encoding="ascii") as file:
        return int(re.search(r"(?m)^SigCgt:\s*([0-9a-f]+)$", file.read())[1], 16) >> (number - 1) & 1 == 1


def children(process):
    found = set()
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == process:
                    found.add(int(entry))
        except (OSError, ValueError):
            pass
    return found


def write_script(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="ascii") as script:
        script.write(f"#!/bin/sh\n{text}\n")
    os.chmod(script.name, 0o755)


def hang(way, program=HANG, **variables):
    return subprocess.run(command(way, program), capture_output=True, text=True, timeout=110, env=environment(**variables))


class Misuse(unittest.TestCase):
    def check(self, way):
        done = hang(way)
        self.assertEqual(done.returncode, -signal.SIGABRT, done)
        head, *calls = done.stderr.splitlines()
        self.assertRegex(head, rf"\Atulle: latch {ADDRESS} is counted down by 2, but less is left")
        self.assertRegex(calls[0], r"#0 +tulle::latch::count_down")  # nothing of what tells it
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hang.cpp"), encoding="utf-8") as source:
            line = next(number for number, content in enumerate(source, 1) if "line: too far" in content)
        self.assertRegex("\n".join(calls), rf"#1 +.*counts_too_far\S* at \S*hang\.cpp:{line}\b")

    def test_says_where(self):
        for way in ("counts_too_far", "counts_too_far_in_a_thread", "counts_too_far_in_an_os_thread"):
            with self.subTest(way):
                self.check(way)


class Deadlock(unittest.TestCase):
    program = HANG

    def report(self, way, **variables):
        done = hang(way, self.program, **variables)
        self.assertEqual(done.returncode, -signal.SIGABRT, done)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"(?m)\Atulle: deadlock: \d+ threads? waits?, and nothing is left that could wake one")
        self.assertEqual(done.stderr.count("tulle: deadlock"), 1)
        self.assertNotIn("goes on", done.stderr)
        return done.stderr

    def paragraph(self, text, pattern):
        found = [part for part in text.split("\n\n") if re.search(pattern, part)]
        self.assertEqual(len(found), 1, f"{pattern} in\n{text}")
        return found[0]

    def test_two_mutexes_in_a_circle(self):
        text = self.report("mutex_cycle")
        circle = self.paragraph(text, "in a circle")
        self.assertRegex(circle, rf'"left" waits for mutex {ADDRESS}, held by thread \d+ "right"')
        self.assertRegex(circle, rf'"right" waits for mutex {ADDRESS}, held by thread \d+ "left"')
        left = self.paragraph(text, r'\Athread \d+ "left" waits for mutex')
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hang.cpp"), encoding="utf-8") as source:
            line = next(number for number, content in enumerate(source, 1) if "line: left" in content)
        self.assertRegex(left, rf"spawned in .*mutex_cycle\S* at \S*hang\.cpp:{line}\b")
        self.assertRegex(left, r"#\d+ +.*lock_both")

    def test_lost_signal(self):
        waiter = self.paragraph(self.report("lost_signal"), r"waits? for signal")
        self.assertIn("(1 notifications to come)", waiter)

    def test_lost_notification(self):
        waiter = self.paragraph(self.report("lost_notification"), r"waits? for condition variable")
        self.assertIn("lost_notification", waiter)

    def test_joins_in_a_circle(self):
        circle = self.paragraph(self.report("join_cycle"), "in a circle")
        self.assertEqual(len(re.findall(r"thread \d+ waits for thread \d+", circle)), 2, circle)

    def test_forked_thread(self):
        text = self.report("forked")
        self.paragraph(text, r"waits for a forked thread")
        child = self.paragraph(text, r"waits for latch")
        self.assertRegex(child, r"forked as \(?(?!tulle::child).*forked\(\)")

    def test_threads_of_a_scope_are_told_by_what_the_user_has_written(self):
        child = self.paragraph(self.report("in_a_scope"), r"waits for latch")
        origin = next(line for line in child.splitlines() if line.startswith("    forked"))
        has_line = hang("inlines", self.program).stdout == "yes\n" and not SANITIZER
        self.assertRegex(origin, r" at \S*hang\.cpp:\d+$" if has_line else r"in_a_scope\(\)")
        self.assertNotIn("scope.hpp", origin)

    def test_full_empty_words(self):
        text = self.report("never_filled")
        taker = self.paragraph(text, rf'"taker" waits for full/empty word {ADDRESS} \(until it is full\)')
        self.assertIn("never_filled", taker)
        self.paragraph(text, rf'"writer" waits for full/empty word {ADDRESS} \(until it is empty\)')

    def test_locks_of_addresses(self):
        text = self.report("address_cycle")
        one = self.paragraph(text, rf'\Athread \d+ "one" waits for lock of address {ADDRESS}, held by thread \d+ "other"\n')
        self.paragraph(text, rf'\Athread \d+ "other" waits for lock of address {ADDRESS}, held by thread \d+ "one"\n')
        self.assertIn("address_cycle", one)
        self.assertEqual(self.paragraph(text, "in a circle").count(" waits for lock of address "), 2)

    def test_recursive_mutexes(self):
        for way in ("recursive_cycle", "c_recursive_cycle"):
            with self.subTest(way):
                self.check_circle(self.report(way))

    def check_circle(self, text):
        circle = self.paragraph(text, "in a circle")
        self.assertRegex(circle, rf'"left" waits for mutex {ADDRESS}, held by thread \d+ "right"')
        self.assertRegex(circle, rf'"right" waits for mutex {ADDRESS}, held by thread \d+ "left"')

    def test_future(self):
        text = self.report("never_kept")
        reader = self.paragraph(text, rf'"reader" waits for future {ADDRESS}')
        self.assertIn("never_kept", reader)

    def test_place_in_a_group(self):
        text = self.report("no_place")
        spawner = self.paragraph(text, rf'"spawner" waits for permit of a spawn_group {ADDRESS}')
        self.assertNotIn("tulle::group::", spawner)
        holder = self.paragraph(text, r"waits for latch")
        # clang knows the call by a line of the header that it has inlined.
        self.assertRegex(holder, r"spawned in .*no_place(\(\))? at .*(hang\.cpp|spawn_group\.hpp):")

    def test_channels_locks_and_tokens(self):
        text = self.report("many_kinds")
        for name, what in (("sender", rf"channel {ADDRESS} \(to send, 1 of 1 items\)"),
                           ("receiver", rf"channel {ADDRESS} \(to receive, 0 of 3 items\)"),
                           ("selector", rf"channel {ADDRESS} \(or for another: select\)"),
                           ("taker", rf"semaphore {ADDRESS} \(count 0\)"),
                           ("writer", rf"shared mutex {ADDRESS} \(held for reading by 1\)"),
                           ("participant", rf"phased barrier {ADDRESS} \(2 more to arrive\)"),
                           ("listener", rf"cancellation {ADDRESS}")):
            with self.subTest(name):
                self.assertIn("many_kinds", self.paragraph(text, rf'"{name}" waits for {what}'))

    def test_barrier_with_a_missing_participant(self):
        self.assertIn("(3 of 4 have arrived)", self.report("missing_participant"))

    def test_a_hundred_thousand_waiters_are_one_paragraph(self):
        begin = time.monotonic()
        count = hang("count_of_many").stdout.split()[0]
        text = self.report("many", TULLE_STACK_SIZE="16K")
        self.assertLess(len(text.split("\n\n")), 12, text)
        self.assertRegex(self.paragraph(text, rf"\A{count} threads \(.*, \.\.\.\) wait for latch"), r"hang\.cpp:\d+")
        print(f"many: {time.monotonic() - begin:.1f} s", file=sys.stderr)

    def test_objects_of_their_own_are_one_paragraph(self):
        self.assertRegex(self.report("many_of_their_own"), r"(?m)^(99|100) threads \(.*\) wait for a latch each")

    def test_guests_wait_too(self):
        self.assertRegex(self.report("guest_waits"), r"thread \d+ waits for mutex")

    def test_found_when_the_last_foreign_thread_has_ended(self):
        self.report("last_foreign_thread_ends")

    def test_a_worker_stands_by(self):
        self.report("with_surplus_worker")

    def test_one_worker(self):
        self.report("mutex_cycle", TULLE_WORKERS="1")

    def test_warning_only(self):
        with subprocess.Popen(command("missing_participant"), stderr=subprocess.PIPE, text=True, env=environment(TULLE_DEADLOCK="warn")) as child:
            hurry = threading.Timer(PATIENCE, child.kill)
            hurry.start()
            self.assertIn("tulle: deadlock: ", child.stderr.readline())
            while (line := child.stderr.readline()) and "goes on" not in line:
                pass
            hurry.cancel()
            self.assertEqual(line, "tulle: the program goes on, as the option deadlock is warn\n")
            time.sleep(0.3)
            self.assertIsNone(child.poll())
            child.kill()
            self.assertEqual(child.stderr.read(), "")

    def test_off(self):
        with subprocess.Popen(command("missing_participant"), stderr=subprocess.PIPE, text=True, env=environment(TULLE_DEADLOCK="off")) as child:
            time.sleep(0.5)
            self.assertIsNone(child.poll())
            child.kill()
            self.assertEqual(child.stderr.read(), "")

    def test_the_first_look_comes_after_a_second_unless_told_otherwise(self):
        begin = time.monotonic()
        self.report("missing_participant", TULLE_DEADLOCK_MS="1000")
        self.assertGreater(time.monotonic() - begin, 1)
        kept = {name: value for name, value in environment().items() if name != "TULLE_DEADLOCK_MS"}
        begin = time.monotonic()
        done = subprocess.run(command("missing_participant"), capture_output=True, text=True, timeout=110, env=kept)
        self.assertEqual(done.returncode, -signal.SIGABRT, done)
        self.assertGreater(time.monotonic() - begin, 1)

    def test_a_value_that_makes_no_sense(self):
        self.assertIn("TULLE_DEADLOCK", hang("sleeps", TULLE_DEADLOCK="maybe").stderr)

    def test_without_addr2line(self):
        text = self.report("missing_participant", PATH="/nowhere")
        self.assertIn("(3 of 4 have arrived)", text)
        self.assertRegex(text, r"#0 ")

    @unittest.skipIf(EMULATOR, "the emulator does not run the script")
    def test_names_are_those_of_llvm_where_it_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}:{os.environ['PATH']}"
            write_script(folder, "addr2line", "while read address; do echo $address; echo 'by_binutils()'; echo b.cpp:7; done")
            write_script(folder, "llvm-addr2line", "while read address; do echo $address; echo 'by_llvm()'; echo l.cpp:8; done")
            self.assertRegex(self.report("missing_participant", PATH=path), r"#0 +by_llvm\(\) at l\.cpp:8\n")
            write_script(folder, "llvm-addr2line", "echo 0x1; exit 1")
            text = self.report("missing_participant", PATH=path)
            self.assertRegex(text, r"#0 +by_binutils\(\) at b\.cpp:7\n")
            self.assertNotIn("by_llvm", text)
            write_script(folder, "llvm-addr2line", "while read address; do echo $address; echo '??'; echo '??:0'; done")
            self.assertRegex(self.report("missing_participant", PATH=path), r"#0 +by_binutils\(\) at b\.cpp:7\n")
            write_script(folder, "llvm-addr2line", "while read address; do echo $address; echo '_ZZ4mainENK3$_4clIN5tulle10activitiesEEEDaRT_'; echo l.cpp:8; done")
            self.assertRegex(self.report("missing_participant", PATH=path), r"#0 +auto main::\$_4::operator\(\)<tulle::activities>\(tulle::activities&\) const at l\.cpp:8\n")


class NoStack(unittest.TestCase):
    def report(self, way, **variables):
        # Substitutes have stacks of their own.
        done = hang(way, **{"TULLE_MAX_SUBSTITUTES": "off", **variables})
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGABRT, ""), done)
        self.assertNotIn("terminate called", done.stderr)
        self.assertEqual(done.stderr.count("tulle: deadlock"), 1)
        head = re.match(r"tulle: deadlock: (\d+) threads wait, (\d+) more have not started, and there is no stack for another one", done.stderr)
        self.assertIsNotNone(head, done.stderr)
        return done.stderr, int(head[1]), int(head[2])

    def test_the_option_is_named(self):
        for way in ("more_threads_than_stacks", "chain_of_promises"):
            for workers in ("1", "2", "3"):
                with self.subTest(way, workers=workers):
                    text, waiting, unstarted = self.report(way, TULLE_MAX_STACKS="30", TULLE_WORKERS=workers)
                    self.assertIn("\n    the limit is TULLE_MAX_STACKS=30: raise it\n", text)
                    self.assertEqual(waiting + unstarted, 301)  # with main
                    self.assertLess(waiting, 31 + 1)

    def test_forked_threads(self):
        text, waiting, unstarted = self.report("more_forks_than_stacks", TULLE_MAX_STACKS="30")
        self.assertIn("TULLE_MAX_STACKS=30", text)
        self.assertGreaterEqual(waiting + unstarted, 290)  # main may run some of them in its own place

    @unittest.skipIf(SANITIZER, "a sanitizer needs the address space itself")
    def test_the_limit_of_the_system_is_named(self):
        text, waiting, unstarted = self.report("more_threads_than_memory", TULLE_GUARD="none")
        self.assertRegex(text, r"\n    the limit of address space is reached: raise it \(ulimit -v, now \d+ KiB\)")
        self.assertEqual(waiting + unstarted, 10001)
        self.check_rest(text, waiting)

    @unittest.skipIf(SANITIZER, "a sanitizer needs the address space itself")
    def test_with_substitutes(self):
        text, waiting, _ = self.report("more_threads_than_memory", TULLE_GUARD="none", TULLE_MAX_SUBSTITUTES="64")
        self.check_rest(text, waiting)
        text, waiting, _ = self.report("more_threads_than_stacks", TULLE_MAX_STACKS="30", TULLE_MAX_SUBSTITUTES="64")
        self.check_rest(text, waiting)

    # Its record is there, and never runs.
    def test_a_substitute_that_finds_no_stack_is_not_waited_for(self):
        _, waiting, unstarted = self.report("more_threads_than_stacks_beside_a_blocked_worker", TULLE_MAX_STACKS="30", TULLE_MAX_SUBSTITUTES="64")
        self.assertEqual(waiting + unstarted, 301)

    # Who waits for whom takes more memory than is kept for reports.
    @unittest.skipIf(SANITIZER, "a sanitizer needs the address space itself")
    def test_what_there_is_no_memory_for_is_left_out(self):
        text, waiting, _ = self.report("more_lockers_than_memory", TULLE_GUARD="none")
        self.assertRegex(text, rf"\n\n({waiting - 1}|{waiting - 2}) threads \(.*, \.\.\.\) wait for mutex {ADDRESS}, held by thread 1\n")
        self.assertTrue(text.endswith("\n\nmemory was short: threads, circles or names are missing here\n"), text)

    @unittest.skipIf(SANITIZER, "a sanitizer needs the address space itself")
    def test_a_program_that_is_only_warned_lives(self):
        with subprocess.Popen(command("more_threads_than_memory"), stderr=subprocess.PIPE, text=True,
                              env=environment(TULLE_GUARD="none", TULLE_DEADLOCK="warn")) as child:
            lines = [child.stderr.readline()]
            while lines[-1] and " wait for barrier" not in lines[-1]:
                lines.append(child.stderr.readline())
            time.sleep(0.5)
            self.assertIsNone(child.poll(), lines)
            child.kill()
            rest = child.stderr.read()
        self.assertNotIn("terminate called", rest)
        text = ("".join(lines) + rest).removesuffix("\n\ntulle: the program goes on, as the option deadlock is warn\n")
        self.check_rest(text, int(re.match(r"tulle: deadlock: (\d+) threads wait, ", lines[0])[1]))

    # After the head: all that wait, main among them, which one of them may run in the place of.
    def check_rest(self, text, waiting):
        head, *paragraphs = text.split("\n\n")
        at_barrier = [re.match(rf"(\d+ threads|thread \d+) .*waits? for barrier {ADDRESS} \((\d+) of \d+ have arrived\)\n", p) for p in paragraphs]
        counts = [int(found[1].split()[0]) if found[1].endswith("threads") else 1 for found in at_barrier if found]
        self.assertEqual(sum(counts), waiting - 1, text)
        self.assertEqual({found[2] for found in at_barrier if found}, {str(waiting - 1)}, text)
        self.assertRegex(text, r"\n\nthread 1 waits for thread \d+\n|\n    in the place of thread 1, which joins it\n")
        for paragraph in paragraphs:
            self.assertRegex(paragraph, r"\n    #0 +\S", text)
        self.assertNotIn("memory was short", head)

    def test_who_asks_is_told_how_many_have_not_started(self):
        with subprocess.Popen(command("more_threads_than_stacks"), stderr=subprocess.PIPE, text=True, restore_signals=True,
                              env=environment(TULLE_MAX_STACKS="30", TULLE_DEADLOCK="warn", TULLE_DEADLOCK_MS="60000")) as child:
            line, sum_of_both, end = "", 0, time.monotonic() + PATIENCE
            while sum_of_both != 301 and time.monotonic() < end:  # until all are there
                time.sleep(2 if line else 0.5)  # a report is whole by then
                if not handles(child, signal.SIGQUIT):
                    continue
                child.send_signal(signal.SIGQUIT)
                line = child.stderr.readline()
                while line and not line.startswith("tulle: process"):  # what is left of the report before
                    line = child.stderr.readline()
                seen = re.match(r"tulle: process \d+: (\d+) threads with a stack, .*; (\d+) in queues, some of which find no stack", line)
                sum_of_both = int(seen[1]) + int(seen[2]) if seen else 0
            child.kill()
        self.assertEqual(sum_of_both, 301, line)


class Circle(unittest.TestCase):
    program = HANG

    def check(self, way, kind="mutex", **variables):
        with subprocess.Popen(command(way, self.program), stderr=subprocess.PIPE, text=True, env=environment(**variables)) as child:
            lines = [child.stderr.readline() for _ in range(5)]
            hurry = threading.Timer(PATIENCE, child.kill)
            hurry.start()
            rest = ""
            while not re.search(r"#\d+ +.*lock_both", rest) and (line := child.stderr.readline()):
                rest += line
            hurry.cancel()
            time.sleep(0.5)
            self.assertIsNone(child.poll(), lines)
            child.kill()
            rest += child.stderr.read()
        self.assertIn("tulle: warning: some threads wait for each other in a circle; others may go on", lines[0])
        self.assertEqual(lines[2], "in a circle:\n")
        for line in lines[3:5]:
            self.assertRegex(line, rf'thread \d+ "(left|right)" waits for {kind} {ADDRESS}, held by thread \d+ "(left|right)"')
        self.assertNotIn("tulle: ", rest)  # once
        self.assertRegex(rest, r"#\d+ +.*lock_both")
        self.assertNotIn("latch", rest)  # those in the circle only

    def test_beside_others_that_go_on(self):
        for way in ("circle_beside_a_sleeping_os_thread", "circle_beside_a_ticking_thread", "circle_beside_a_computing_thread"):
            with self.subTest(way):
                self.check(way)

    @unittest.skipIf(EMULATOR, "the emulator does not run the script, and refuses processes that send no signal when they end")
    def test_names_that_take_long_hold_nobody_up(self):
        with tempfile.TemporaryDirectory() as folder:
            write_script(folder, "llvm-addr2line", "sleep 5")
            done = hang("circle_beside_a_thread_that_measures", self.program, TULLE_WORKERS="1", PATH=f"{folder}:{os.environ['PATH']}")
            self.assertIn("in a circle:\n", done.stderr)
            self.assertLess(int(done.stdout), 4000)

    def test_of_other_locks(self):
        self.check("circle_of_recursive_mutexes_beside_a_ticking_thread")
        self.check("circle_of_addresses_beside_a_ticking_thread", "lock of address")

    def test_locks_in_two_orders_are_no_circle(self):
        done = hang("locks_in_two_orders", TULLE_DEADLOCK_MS="10")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))


@unittest.skipUnless(HANG_WITH_NDEBUG, "the path of the program is not given")
class WithNdebug(unittest.TestCase):
    """There a tulle::mutex knows the stack of its holder only; a recursive one knows the thread."""
    report, paragraph, check_circle = Deadlock.report, Deadlock.paragraph, Deadlock.check_circle
    program = HANG_WITH_NDEBUG

    def test_recursive_mutexes(self):
        for way in ("recursive_cycle", "c_recursive_cycle"):
            with self.subTest(way):
                self.check_circle(self.report(way))

    def test_recursive_mutexes_beside_others_that_go_on(self):
        Circle.check(self, "circle_of_recursive_mutexes_beside_a_ticking_thread")

    def test_joins(self):
        circle = self.paragraph(self.report("join_cycle"), "in a circle")
        self.assertEqual(len(re.findall(r"thread \d+ waits for thread \d+", circle)), 2, circle)

    def test_mutexes(self):
        self.check_circle(self.report("mutex_cycle"))

    def test_mutexes_beside_others_that_go_on(self):
        Circle.check(self, "circle_beside_a_ticking_thread")

    def test_locks_in_two_orders_are_no_circle(self):
        done = hang("locks_in_two_orders", self.program, TULLE_DEADLOCK_MS="10")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))


class Signals(unittest.TestCase):
    def start(self, way, **variables):
        child = subprocess.Popen(command(way), stderr=subprocess.PIPE, text=True, env=environment(**variables))
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def test_a_program_that_waits_for_an_alarm_is_not_aborted(self):
        child = self.start("waits_for_alarm")
        warning = child.stderr.readline()
        self.assertRegex(warning, r"\Atulle: warning: 1 thread waits, and nothing is left that could wake one but a handler of SIGALRM ")
        time.sleep(0.5)
        self.assertIsNone(child.poll())
        child.send_signal(signal.SIGALRM)
        self.assertEqual(child.wait(PATIENCE), 0)
        self.assertNotIn("tulle: ", child.stderr.read())

    def test_a_program_that_waits_for_a_signal_is_warned_of_once(self):
        child = self.start("waits_for_termination")
        warning = child.stderr.readline()
        self.assertRegex(warning, r"\Atulle: .*a handler of SIGTERM \(")
        time.sleep(1)
        self.assertIsNone(child.poll())
        child.terminate()
        self.assertEqual(child.wait(PATIENCE), 3)
        self.assertNotIn("tulle: ", child.stderr.read())

    def test_a_seed_makes_no_difference(self):
        child = self.start("waits_for_alarm", TULLE_SEED="3")
        self.assertIn("but a handler of SIGALRM", child.stderr.readline())
        child.send_signal(signal.SIGALRM)
        self.assertEqual(child.wait(PATIENCE), 0)

    def test_without_its_handler_it_is_a_deadlock(self):
        child = self.start("gives_its_handler_up")
        self.assertIn("a handler of SIGUSR1", child.stderr.readline())
        child.send_signal(signal.SIGUSR1)
        self.assertEqual(child.wait(PATIENCE), -signal.SIGABRT)
        self.assertIn("tulle: deadlock: 1 thread waits", child.stderr.read())


class NoDeadlock(unittest.TestCase):
    def test_what_will_go_on_is_not_reported(self):
        for way in ("waits_for_foreign_thread", "sleeps", "waits_with_deadline", "guest_sleeps", "waits_for_system_call", "computes",
                    "surplus_worker_computes"):
            with self.subTest(way):
                done = hang(way)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))


class Asked(unittest.TestCase):
    def start(self, way="busy", **variables):
        child = subprocess.Popen(command(way), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=environment(**variables), restore_signals=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), "ready\n")
        time.sleep(0.1)
        return child

    def check(self, text):
        self.assertRegex(text, r"\Atulle: process \d+: 13 threads with a stack, 2 of them running on 2 workers")
        self.assertRegex(text, r"(?m)^10 threads \(.*\) wait for latch")
        self.assertRegex(text, r'(?m)^thread \d+ "sleeper" waits for a point in time')
        self.assertRegex(text, r"(?m)^thread \d+ runs on worker \d+\n +spawned in .*busy.*\n( +#.*\n)* +#\d+ +.*compute_until_stopped")

    def test_by_sigquit(self):
        child = self.start()
        child.send_signal(signal.SIGQUIT)
        time.sleep(0.5)
        self.assertIsNone(child.poll())
        _, errors = child.communicate("go on\n")  # ends when the writer of the report has ended, too
        self.assertEqual(child.returncode, 7)
        self.check(errors)

    @unittest.skipIf(EMULATOR, "the emulator does not run the script")
    def test_names_that_take_long_hold_up_neither_the_first_lines_nor_the_end_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = os.path.join(folder, "ended")
            write_script(folder, "llvm-addr2line", f"sleep 3; echo > {ended}")
            child = self.start(PATH=f"{folder}:{os.environ['PATH']}")
            child.send_signal(signal.SIGQUIT)
            self.assertIn("threads with a stack", child.stderr.readline())
            child.kill()
            self.assertEqual(child.stdout.read(), "")
            self.assertFalse(os.path.exists(ended))
            self.assertIn("wait for latch", child.stderr.read())
            self.assertTrue(os.path.exists(ended))

    def test_default_when_off(self):
        child = self.start(TULLE_DEADLOCK="off")
        child.send_signal(signal.SIGQUIT)
        self.assertEqual(child.wait(PATIENCE), -signal.SIGQUIT)

    def test_own_handler(self):
        child = self.start("busy_with_own_handler")
        child.send_signal(signal.SIGQUIT)
        self.assertEqual(child.wait(PATIENCE), 9)


@unittest.skipIf(TULLE is None, "`tulle` is not built")
class Ps(Asked):
    def setUp(self):
        self.before = children(os.getpid())

    def ps(self, *words):
        return subprocess.run([TULLE, "ps", *words], capture_output=True, text=True, timeout=60)

    @unittest.skipIf(SANITIZER == "ThreadSanitizer", "it holds signals back while a thread waits in the C library")
    def test_by_tulle_ps(self):
        child = self.start()
        for _ in range(3):
            done = self.ps(str(child.pid))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.check(done.stdout)
        child.communicate("go on\n")
        self.assertEqual(child.returncode, 7)

    @unittest.skipIf(SANITIZER == "ThreadSanitizer", "it holds signals back while a thread waits in the C library")
    def test_which_call_a_worker_is_in(self):
        child = self.start()
        found = None
        deadline = time.monotonic() + 30
        while found is None and time.monotonic() < deadline:  # until the watcher has looked
            text = self.ps(str(child.pid)).stdout
            found = re.search(r"(?m)^thread \d+ runs on worker 0, which is in (read|the kernel)$", text)
        self.assertIsNotNone(found, text)
        self.assertRegex(text, r"\n    \d+ substitutes run; workers were found in the kernel [1-9]\d* times(, last in read)?, computing")
        child.communicate("go on\n")
        self.assertEqual(child.returncode, 7)

    def test_nothing_is_left_of_what_has_written_reports(self):
        """What nobody waits for comes to this process, which is asked to take it."""
        k_set_child_subreaper = 36
        ctypes.CDLL(None).prctl(k_set_child_subreaper, 1)
        self.addCleanup(ctypes.CDLL(None).prctl, k_set_child_subreaper, 0)
        child = self.start()
        for _ in range(3):
            self.assertEqual(self.ps(str(child.pid)).returncode, 0)
            time.sleep(0.1)
        self.assertEqual(len(children(child.pid)), 1)
        self.assertLessEqual(children(os.getpid()) - {child.pid}, self.before)

    @unittest.skipIf(SANITIZER == "ThreadSanitizer", "it holds signals back while a thread waits in the C library")
    def test_a_worker_that_comes_late_writes_no_report_of_its_own(self):
        child = self.start("holds_sigquit_back")
        done = self.ps(str(child.pid))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        _, errors = child.communicate()
        self.assertEqual((child.returncode, errors), (0, ""))

    def test_list(self):
        child = self.start()
        self.assertRegex(self.ps().stdout, rf"(?m)^ *{child.pid} .*hang busy")

    def refused(self, process, complaint, code=1):
        done = self.ps(process)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done)
        self.assertTrue(done.stderr.startswith("tulle: ps: "), done.stderr)
        self.assertIn(complaint, done.stderr)

    def test_refusals(self):
        self.refused("hello", "no process number", 2)
        self.refused("0", "no process number", 2)
        self.refused("4194305", "there is no process")
        self.refused(str(os.getpid()), "does not use Tulle")

    def test_a_process_that_would_die_of_the_signal_is_not_sent_it(self):
        child = self.start(TULLE_DEADLOCK="off")
        self.refused(str(child.pid), "TULLE_DEADLOCK=off")
        self.assertIsNone(child.poll())

    def test_a_program_that_has_given_the_signal_up_is_not_sent_it(self):
        child = self.start("busy_with_sigquit_as_it_was")
        self.assertNotRegex(self.ps().stdout, rf"(?m)^ *{child.pid} ")
        self.refused(str(child.pid), "does not use Tulle")
        self.assertIsNone(child.poll())

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become another user")
    def test_another_user(self):
        child = self.start()
        done = subprocess.run([TULLE, "ps", str(child.pid)], capture_output=True, text=True, timeout=60, user=65534)
        self.assertEqual(done.returncode, 1)
        self.assertIn("another user", done.stderr)


unittest.main()
