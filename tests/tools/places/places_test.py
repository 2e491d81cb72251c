# SPDX-License-Identifier: Apache-2.0
"""`tulle run -n`: exit codes, places that die, tags, input, signals, and that nothing is left behind. Arguments: the paths of the programs
`tulle` and `conduct`."""
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import blocked_signals  # noqa: E402
from processes import MARK, processes, processor_seconds  # noqa: E402

CONDUCT = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
PATIENCE = 60  # seconds, for what must not hang
LIMIT = 30  # seconds, within which all places end when one has died: less than for what hangs, more than a busy machine needs


def environment(mark):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    return {**kept, MARK: mark}


def children(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


class PlacesTest(unittest.TestCase):
    def setUp(self):
        self.mark = uuid.uuid4().hex
        self.shared = set(os.listdir("/dev/shm"))
        self.addCleanup(self.nothing_is_left)

    def nothing_is_left(self):
        end = time.monotonic() + LIMIT
        while (left := processes(self.mark)) and time.monotonic() < end:
            time.sleep(0.01)
        for process in left:
            os.kill(process, signal.SIGKILL)
        self.assertEqual(left, [])
        self.assertEqual([name for name in set(os.listdir("/dev/shm")) - self.shared if "tulle" in name], [])

    def start(self, places, *words, options=(), variables=None, **more):
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        return subprocess.Popen([TULLE, "run", "-n", str(places), *options, "--", *words], text=True,
                                env={**environment(self.mark), **(variables or {})}, **streams)

    def run_places(self, places, *words, code=0, input="", **more):
        process = self.start(places, *words, **more)
        try:
            out, err = process.communicate(input, timeout=PATIENCE)
        finally:
            process.kill()
        self.assertEqual(process.returncode, code, (words, out[-300:], err[-3000:]))
        return out, err

    def ready(self, places, how, *words, **more):
        """One that waits for its input to end, at all places."""
        process = self.start(places, CONDUCT, how, *words, **more)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.assertEqual(len(processes(self.mark)), places + 1)
        return process


class ExitCode(PlacesTest):
    def test_all_places_take_part(self):
        for places in (1, 2, 4):
            out, err = self.run_places(places, CONDUCT, "count")
            self.assertEqual((out, err), (f"{places} places, mask {2 ** places - 1}\n", ""))

    def test_of_place_0_is_passed_on(self):
        for places in (1, 2, 4):
            self.run_places(places, CONDUCT, "count", "3", code=3)

    def test_signal_that_ends_place_0(self):
        for places in (1, 3):
            _, err = self.run_places(places, CONDUCT, "is-killed", "0", code=128 + signal.SIGKILL)
            self.assertEqual(err, "tulle: run: place 0: ended by signal 9 (Killed)\n")
            self.run_places(places, CONDUCT, "exits", "0", code=5)

    def test_missing_program(self):
        _, err = self.run_places(2, "/nowhere/to/be/found", code=127)
        self.assertEqual(err, "tulle: run: cannot run '/nowhere/to/be/found': No such file or directory\n")

    def test_file_that_is_no_program(self):
        _, err = self.run_places(2, "/", code=126)
        self.assertEqual(err, "tulle: run: cannot run '/': Permission denied\n")

    def test_programs_that_never_use_tulle(self):
        for places in (1, 2, 4):
            self.run_places(places, "true")
            out, err = self.run_places(places, "echo", "hello", options=["--tags", "all"])
            self.assertEqual((sorted(out.splitlines()), err), ([f"[{k}] hello" for k in range(places)], ""))
            self.run_places(places, "false", code=1)

    def test_programs_that_never_use_tulle_may_take_longer_than_place_0(self):
        out, err = self.run_places(3, "sh", "-c", "case $TULLE_PLACE in 0/*) exit;; *) sleep 4; echo end;; esac")
        self.assertEqual((sorted(out.splitlines()), err), (["[1] end", "[2] end"], ""))

    def test_more_pipes_than_files_may_be_open(self):
        few = 64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        out, _ = self.run_places(40, "sh", "-c", "ulimit -n", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few),
                                 options=["--tags", "all"])
        self.assertEqual([line.split()[1] for line in out.splitlines()], ["64"] * 40)

    def test_files_may_not_be_as_large_as_the_memory_of_places(self):
        few = 1_000_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        _, err = self.run_places(2, CONDUCT, "count", code=1, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, few))
        self.assertEqual(err, "tulle: run: no memory for the places to share: File too large\n")

    def test_children_that_nobody_was_to_wait_for(self):
        self.run_places(2, CONDUCT, "count", "3", code=3, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))


NOBODY = 65534


def with_rights_of_root(program, folder):
    """A copy of the program that anyone may start, with these rights (setuid)."""
    made = os.path.join(folder, os.path.basename(program))
    shutil.copyfile(program, made)
    os.chmod(made, 0o4755)
    return made


@unittest.skipIf(os.geteuid() != 0, "only root makes programs that have its rights")
class ProgramWithMoreRights(PlacesTest):
    """Whoever starts it neither chooses what code it loads nor shares memory with it."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o755)
        asked = subprocess.run([with_rights_of_root(shutil.which("id"), self.folder), "-u"], capture_output=True, text=True, user=NOBODY)
        if asked.stdout != "0\n":
            self.skipTest("setuid has no effect here: " + asked.stdout + asked.stderr)
        self.program = with_rights_of_root(CONDUCT, self.folder)

    def test_is_no_place(self):
        _, err = self.run_places(2, self.program, "count", code=128 + signal.SIGABRT, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertIn("cannot become a place: this program has more rights than the user who has started it", err)

    def test_plugin_of_user_is_not_loaded(self):
        with open(os.path.join(self.folder, "libtulle-mpi-openmpi.so"), "wb") as file:
            file.write(b"no library")
        variables = {"TULLE_TRANSPORT": "openmpi", "TULLE_PLUGIN_FOLDER": self.folder, "OMPI_COMM_WORLD_RANK": "0",
                     "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # which cannot be done in such a program
        done = subprocess.run([self.program, "count"], capture_output=True, text=True, timeout=PATIENCE, user=NOBODY, group=NOBODY,
                              extra_groups=[], env={**environment(self.mark), **variables})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1 places, mask 1\n", ""))


def cpus_in(text):
    """Of a list as the system has it: 0-3,8."""
    ranges = [[int(end) for end in part.split("-")] for part in text.split(",")]
    return {cpu for ends in ranges for cpu in range(ends[0], ends[-1] + 1)}


class ReservedCpu(PlacesTest):
    def cpus(self, places, cpu):
        """{(place, name of the OS thread): CPUs}, what was complained of."""
        out, err = self.run_places(places, CONDUCT, "processors", options=["--tags", "none"],
                                   variables={"TULLE_RESERVE_CPU": cpu, "TULLE_WORKERS": "2"})
        return {(int(line.split()[0]), line.split()[1]): cpus_in(line.split()[2]) for line in out.splitlines()}, err

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU")
    def test_is_for_messages_alone(self):
        everything = os.sched_getaffinity(0)
        for which in (1, len(everything)):
            kept = {sorted(everything)[which - 1]}
            expected = {(p, name) for p in range(2) for name in ("main", "tulle-1", "tulle-service")}
            for _ in range(20):  # an OS thread names itself when it starts, which may be after the program has looked
                found, err = self.cpus(2, str(which))
                self.assertEqual(err, "")
                if expected <= set(found):
                    break
            ours = {key: cpus for key, cpus in found.items() if key[1] == "main" or key[1].startswith("tulle-")}  # sanitizers have others
            self.assertLessEqual(expected, set(ours))
            for (place, name), cpus in ours.items():
                self.assertEqual(cpus, kept if name == "tulle-service" else everything - kept, (place, name))

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU")
    def test_is_no_worker_s(self):
        out, _ = self.run_places(1, CONDUCT, "workers", variables={"TULLE_RESERVE_CPU": "1"})
        self.assertEqual(int(out), len(os.sched_getaffinity(0)) - 1)

    def test_one_that_is_not_there_is_told_and_none_is_kept(self):
        out, err = self.run_places(2, CONDUCT, "count", "3", code=3, variables={"TULLE_RESERVE_CPU": "4000"})
        self.assertEqual(out, "2 places, mask 3\n")
        self.assertEqual(err.count("the option reserve_cpu is 4000, but there are"), 2)


class Handlers(PlacesTest):
    def test_handlers_are_for_threads_of_the_program(self):
        """One beside these would be one more of them."""
        out, _ = self.run_places(2, CONDUCT, "blocked-signals", options=["--tags", "none"])
        blocked_signals.check(self, out, ["tulle-service"])


class Death(PlacesTest):
    def ends_soon(self, places, *words, code):
        before = time.monotonic()
        out, err = self.run_places(places, CONDUCT, *words, code=code)
        self.assertLess(time.monotonic() - before, LIMIT)
        return out, err

    def test_of_another_place(self):
        for places, which in ((2, 1), (4, 2)):
            for how, code, reason in (("exits", 5, "exit code 5"), ("aborts", 128 + 6, "ended by signal 6 (Aborted)"),
                                      ("is-killed", 128 + 9, "ended by signal 9 (Killed)")):
                _, err = self.ends_soon(places, how, str(which), code=code)
                self.assertIn(f"tulle: run: place {which}: {reason}; the others are stopped\n", err)

    def test_before_it_takes_part(self):
        _, err = self.ends_soon(3, "exits-early", "2", code=6)
        self.assertIn("tulle: run: place 2: exit code 6; the others are stopped\n", err)
        _, err = self.ends_soon(3, "is-killed-early", "2", code=128 + 9)
        self.assertIn("tulle: run: place 2: ended by signal 9 (Killed); the others are stopped\n", err)

    def test_of_place_0_before_it_takes_part(self):
        self.ends_soon(3, "exits-early", "0", code=6)
        self.ends_soon(3, "never-takes-part", "0", code=0)

    def test_one_place_does_not_take_part(self):
        process = self.start(3, CONDUCT, "never-takes-part", "1")
        _, err = process.communicate(timeout=PATIENCE)
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(err, r"place 1: exit code 0; the others are stopped|place 1 ended with exit code 0 before it used Tulle")

    def test_who_is_late_is_waited_for(self):
        for late in ("0", "1"):
            process = self.start(2, CONDUCT, "is-late", late)
            out, err = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, int(late))
            self.assertIn("2 places, mask 3", out)
            self.assertEqual(err, "")

    def test_last_words_are_printed(self):
        out, _ = self.ends_soon(2, "is-killed", "1", code=128 + 9)
        self.assertEqual(out, "[1] last words\n[1] and half a li\n")

    def test_at_the_end(self):
        _, err = self.run_places(3, CONDUCT, "fails-at-exit", "2", code=23)
        self.assertEqual(err, "tulle: run: place 2: exit code 23\n")

    def test_a_place_that_does_not_end_is_stopped(self):
        _, err = self.run_places(3, CONDUCT, "hangs-at-exit", "1")
        self.assertEqual(err, "tulle: run: place 1 does not end after place 0 has ended; it is stopped\n")

    def test_of_the_launcher(self):
        process = self.ready(3, "waits")
        process.kill()
        process.wait()  # and no place is left

    def test_who_is_killed_from_outside_is_named(self):
        process = self.ready(3, "waits")
        os.kill(children(process.pid)[2], signal.SIGKILL)
        self.assertEqual(process.wait(LIMIT), 128 + 9)
        self.assertEqual(process.stderr.read(), "tulle: run: place 2: ended by signal 9 (Killed); the others are stopped\n")


class Binding(PlacesTest):
    def used(self, places, *options, **more):
        """How many each place may use, in the order of the numbers."""
        return sorted(int(line) for line in self.run_places(places, "nproc", options=["--tags", "none", *options], **more)[0].split())

    def test_a_place_has_its_own(self):
        count = len(os.sched_getaffinity(0))
        for places in (2, 3):
            bound = sorted((k + 1) * count // places - k * count // places for k in range(places))
            self.assertEqual(self.used(places), bound if places <= count else [count] * places)
        self.assertEqual(self.used(2, "--no-bind"), [count] * 2)
        self.assertEqual(self.used(1), [count])

    def test_not_if_there_are_more_workers(self):
        count = len(os.sched_getaffinity(0))
        self.assertEqual(self.used(2, "--workers", str(count)), [count] * 2)


    def test_not_if_each_has_a_worker_for_every_processor(self):
        """As with `auto`: all or none of the places are bound, as many as there may be."""
        count = len(os.sched_getaffinity(0))
        for workers in ("auto", "0"):
            self.assertEqual(self.used(2 * count, "--workers", workers), [count] * 2 * count)

    def test_shares_are_not_larger_than_there_may_be_workers(self):
        for options, variables in ((["--set", "max_workers=1"], {}), ([], {"TULLE_MAX_WORKERS": "1"})):
            out, err = self.run_places(1, CONDUCT, "workers", options=options, variables=variables)
            self.assertEqual((int(out), err), (1, ""))


class Survival(PlacesTest):
    """TULLE_ON_PLACE_DEATH=throw."""

    def start(self, places, *words, options=(), variables=None, **more):
        return super().start(places, *words, options=options, variables={"TULLE_ON_PLACE_DEATH": "throw", **(variables or {})}, **more)

    def test_the_others_go_on(self):
        for how, reason in (("exits", "exit code 5"), ("aborts", "ended by signal 6 (Aborted)"), ("is-killed", "ended by signal 9 (Killed)")):
            out, err = self.run_places(4, CONDUCT, "survives", "2", how)
            self.assertEqual(err, f"tulle: run: place 2: {reason}; the others go on\n")
            told = "ended with exit code 5" if how == "exits" else reason
            self.assertIn(f"tulle: place 2 has died: {told}; 1 activity is lost\n", out)
            self.assertIn("call: place 2\nfinish: place 2, 1 lost, 30 ended\nleft: 0 1 3\n", out)

    def test_killed_from_outside(self):
        process = self.ready(4, "goes-on", "2")
        before = time.monotonic()
        os.kill(children(process.pid)[2], signal.SIGKILL)
        self.assertEqual(process.stdout.readline(), "place 2 is dead\n")
        self.assertLess(time.monotonic() - before, LIMIT)
        self.assertEqual(process.wait(LIMIT), 0)

    def test_who_has_stolen_work(self):
        out, _ = self.run_places(3, CONDUCT, "forks-to-the-dead", "0")
        self.assertEqual(sorted(out.splitlines()),
                         [f"tulle: place {k} has died: ended by signal 9 (Killed); 1 activity is lost" for k in (1, 2)])

    def test_not_without_place_0(self):
        _, err = self.run_places(3, CONDUCT, "is-killed", "0", code=128 + signal.SIGKILL)
        self.assertEqual(err, "tulle: run: place 0: ended by signal 9 (Killed)\n")

    def test_not_before_it_takes_part(self):
        _, err = self.run_places(3, CONDUCT, "is-killed-early", "2", code=128 + 9)
        self.assertIn("tulle: run: place 2: ended by signal 9 (Killed); the others are stopped\n", err)


class Output(PlacesTest):
    def printed(self, *options):
        out, err = self.run_places(3, CONDUCT, "prints", options=options)
        return sorted(out.splitlines()), sorted(err.splitlines())

    def test_tags(self):
        tagged = ["[1] one", "[1] two", "[2] one", "[2] two"]
        self.assertEqual(self.printed(), (tagged + ["one", "two"], ["[1] wrong", "[2] wrong", "wrong"]))
        self.assertEqual(self.printed("--tags", "others"), self.printed())
        self.assertEqual(self.printed("--tags", "all"), (["[0] one", "[0] two"] + tagged, ["[0] wrong", "[1] wrong", "[2] wrong"]))
        for words in (("--tags", "none"), ("--no-tags",)):
            self.assertEqual(self.printed(*words), (["one"] * 3 + ["two"] * 3, ["wrong"] * 3))

    def test_without_a_newline_at_the_end(self):
        out, _ = self.run_places(3, CONDUCT, "prints-no-newline", options=["--tags", "all"])
        self.assertEqual(sorted(out.splitlines()), ["[0] unended 0", "[1] unended 1", "[2] unended 2"])

    def test_long_lines(self):
        for length in (65535, 65536, 5_000_000):
            out, _ = self.run_places(2, CONDUCT, "prints-long-lines", str(length), options=["--tags", "all"])
            expected = [f"[{k}] {line}" for k in range(2) for line in ("x" * length, "short")]
            self.assertTrue(sorted(out.splitlines()) == sorted(expected), (length, len(out)))

    def test_a_line_without_an_end_is_not_kept_for_ever(self):
        out, _ = self.run_places(2, "sh", "-c", "test $TULLE_PLACE = ${TULLE_PLACE#1} || head -c 70000000 /dev/zero", options=["--workers", "1"])
        self.assertEqual([line[:4] for line in out.splitlines()], ["[1] ", "[1] "])

    def test_a_full_disk_is_told_of(self):
        for words in (("echo", "hello"), ("yes",), (CONDUCT, "prints-for-ever")):
            with open("/dev/full", "w", encoding="ascii") as full:
                process = self.start(2, *words, stdout=full)
                _, err = process.communicate(timeout=PATIENCE)
            self.assertNotEqual(process.returncode, 0, words)
            self.assertEqual(err.count("tulle: run: cannot write to standard output: No space left on device\n"), 1, err)
            if words[0] == "echo":
                self.assertEqual(process.returncode, 1)

    def test_lines_of_place_0_are_whole_in_a_file_and_in_a_pipe(self):
        """It writes buffers, which end within lines."""
        lines = 20_000
        expected = sorted((f"[{k}] " if k != 0 else "") + "abc"[k] * 70 for k in range(3) for _ in range(lines))
        out, _ = self.run_places(3, CONDUCT, "prints-many-lines", str(lines))
        self.assertTrue(sorted(out.splitlines()) == expected, "a line is cut")
        with tempfile.TemporaryFile("w+") as file:
            subprocess.run([TULLE, "run", "-n", "3", CONDUCT, "prints-many-lines", str(lines)], stdout=file, check=True, timeout=PATIENCE)
            file.seek(0)
            self.assertTrue(sorted(file.read().splitlines()) == expected, "a line is cut")

    def test_what_place_0_prints_without_an_end_is_seen_at_once(self):
        """Such as a question, which somebody is to answer."""
        process = self.start(2, CONDUCT, "asks")
        self.assertEqual(process.stdout.read(6), "name? ")
        out, _ = process.communicate("x", timeout=PATIENCE)
        self.assertEqual(out, "it is x\n")

    def test_nobody_reads_it(self):
        process = self.start(2, CONDUCT, "prints-for-ever")
        self.assertIn("again\n", process.stdout.readline())
        process.stdout.close()
        process.wait(PATIENCE)
        process.stdin.close()
        process.stderr.close()

    def test_a_reader_that_does_not_wait(self):
        """Our end of the pipe does not block, and is full for a while."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        process = self.start(2, CONDUCT, "prints-long-lines", "1000000", options=["--tags", "all"], stdout=writer)
        os.close(writer)
        time.sleep(0.5)
        with open(reader, encoding="ascii") as file:
            self.assertEqual(sorted(map(len, file.read().splitlines())), [9, 9, 1000004, 1000004])
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)

    def test_somebody_else_holds_it(self):
        """A program that a place has started, and that outlives it."""
        process = self.start(2, "sh", "-c", "sleep 300 & echo started", stderr=subprocess.DEVNULL, options=["--tags", "all"])
        self.assertEqual(process.wait(LIMIT), 0)
        for sleeper in processes(self.mark):
            os.kill(sleeper, signal.SIGKILL)
        out, _ = process.communicate()
        self.assertEqual(sorted(out.splitlines()), ["[0] started", "[1] started"])


class Input(PlacesTest):
    def test_is_that_of_place_0(self):
        out, _ = self.run_places(3, CONDUCT, "reads", input="some text")
        self.assertEqual(out, "0: 'some text'\n1: ''\n2: ''\n")

    def test_closed_streams(self):
        def close():
            os.close(0)
        out, _ = self.run_places(2, CONDUCT, "reads", preexec_fn=close)
        self.assertEqual(out, "0: ''\n1: ''\n")


class Signals(PlacesTest):
    def test_end_all_places(self):
        for places in (1, 3):
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                process = self.ready(places, "waits")
                process.send_signal(number)
                self.assertEqual(process.wait(LIMIT), 128 + number)
                self.assertEqual(process.stderr.read(), "")

    def test_end_places_that_ignore_them(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.ready(3, "ignores-signals", options=["--grace", "1"])
            process.send_signal(number)
            self.assertEqual(process.wait(LIMIT), 128 + number)

    def test_that_come_again_end_places_at_once(self):
        process = self.ready(3, "ignores-signals", options=["--grace", "100000"])
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(1.5)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(LIMIT), 128 + signal.SIGINT)

    def in_order(self, seconds, *options):
        """Places that need so long to end, and the exit code of one that may."""
        waits = f"trap 'sleep {seconds}; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
        process = self.start(2, "sh", "-c", waits, options=["--no-tags", *options])
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual([process.stdout.readline() for _ in range(2)], 2 * ["ready\n"])
        process.send_signal(signal.SIGTERM)
        return process.wait(LIMIT)

    def test_leave_time_to_end_in_order(self):
        self.assertEqual(self.in_order(1.5), 7)
        self.assertEqual(self.in_order(6, "--grace", "20"), 7)
        self.assertEqual(self.in_order(20, "--grace", "0"), 128 + signal.SIGTERM)

    def test_another_one_is_passed_on(self):
        waits = "trap 'echo hung up' HUP; trap 'exit 6' TERM; echo ready; while :; do sleep 0.05; done"
        process = self.start(2, "sh", "-c", waits, options=["--no-tags", "--grace", "100000"])
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual([process.stdout.readline() for _ in range(2)], 2 * ["ready\n"])
        process.send_signal(signal.SIGHUP)
        self.assertEqual([process.stdout.readline() for _ in range(2)], 2 * ["hung up\n"])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(LIMIT), 6)

    def test_a_terminal_sends_to_all(self):
        process = self.ready(3, "waits", start_new_session=True)
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.wait(LIMIT), 128 + signal.SIGINT)
        self.assertEqual(process.stderr.read(), "")

    def test_of_nohup_are_ignored(self):
        def ignore():
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN)
        process = self.ready(2, "waits", "4", preexec_fn=ignore)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
            process.send_signal(number)
        time.sleep(0.2)
        _, err = process.communicate(timeout=PATIENCE)  # closes the input
        self.assertEqual((process.returncode, err), (4, ""))

    def test_a_terminal_that_hangs_up_tells_only_the_first_of_its_session(self):
        with tempfile.TemporaryDirectory() as folder:
            told = os.path.join(folder, "told")
            waits = f"trap 'echo $TULLE_PLACE >> {told}; exit' HUP; echo ready; while :; do sleep 0.05; done"
            process, terminal = pty.fork()
            if process == 0:
                os.execve(TULLE, [TULLE, "run", "-n", "2", "--no-tags", "--", "sh", "-c", waits], environment(self.mark))
            seen = b""
            while seen.count(b"ready") < 2:
                seen += os.read(terminal, 1000)
            os.close(terminal)
            _, status = os.waitpid(process, 0)
            self.assertEqual(os.waitstatus_to_exitcode(status), 0)  # that of a shell that exits
            with open(told, encoding="ascii") as file:
                self.assertEqual(sorted(line[0] for line in file), ["0", "1"])

    def test_end_places_whose_output_nobody_reads(self):
        for number in (signal.SIGINT, signal.SIGHUP):
            process = self.start(2, CONDUCT, "prints-for-ever", options=["--tags", "all"])
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
            self.assertIn("again\n", process.stdout.readline())
            time.sleep(0.5)  # until the pipe is full
            process.send_signal(number)
            self.assertEqual(process.wait(LIMIT), 128 + number)

    def test_quit_asks_for_reports(self):
        process = self.ready(2, "waits", "4")
        process.send_signal(signal.SIGQUIT)
        while not process.stderr.readline().startswith("[1] "):
            pass
        _, _ = process.communicate(timeout=PATIENCE)  # closes the input
        self.assertEqual(process.returncode, 4)


class Usage(PlacesTest):
    def refused(self, words, complaint):
        done = subprocess.run([TULLE, "run", *words, "true"], capture_output=True, text=True, timeout=PATIENCE, env=environment(self.mark))
        self.assertEqual(done.returncode, 2, done)
        self.assertTrue(done.stderr.startswith("tulle: "), done.stderr)
        self.assertRegex(done.stderr, complaint)
        self.assertEqual(done.stdout, "")

    def test_numbers_of_places(self):
        for wrong in ("0", "-1", "100000", "1025"):
            self.refused(["-n", wrong], rf"--places: '{wrong}' is not a number from 1 to 1024")
        self.refused(["-n", "abc"], "--places.*abc")

    def test_tags(self):
        self.refused(["-n", "2", "--tags", "some"], "--tags: 'some' is none of others, all, none")
        self.refused(["--tags", "all"], "--tags requires --places")

    def test_deterministic_runs(self):
        for words in (["--seed", "1"], ["--explore", "3"]):
            self.refused(["-n", "2", *words], "run: a deterministic run has one place: leave out --seed and --explore, or -n")


class Processors(PlacesTest):
    def test_are_left_alone_by_idle_places(self):
        seconds = 2
        process = self.ready(4, "waits")
        used = []
        while len(used) < 4 and min(used, default=seconds) >= 0.2 * seconds:  # on a slow machine they are not idle at once
            time.sleep(0.5)
            before = {each: processor_seconds(each) for each in processes(self.mark)}
            self.assertEqual(len(before), 5)
            time.sleep(seconds)
            used.append(sum(processor_seconds(each) - start for each, start in before.items()))
        self.assertLess(min(used), 0.2 * seconds)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)

    def test_more_places_than_processors_beside_programs_that_compute(self):
        """A place that waits by yields gives a time slice to each of them whenever it looks: minutes. One that sleeps needs a second."""
        cpus = len(os.sched_getaffinity(0))

        def seconds():
            begin = time.monotonic()
            self.run_places(3 * cpus, CONDUCT, "takes-time", "50")
            return time.monotonic() - begin

        def seconds_beside_others():
            others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(10 * cpus)]
            try:
                return seconds()
            finally:
                for other in others:
                    other.kill()
                    other.wait()

        for again in (True, True, False):  # other tests may take processors at one of the times only
            alone, beside = seconds(), seconds_beside_others()
            if beside < 15 + 11 * alone or not again:
                break
        self.assertLess(beside, 15 + 11 * alone, alone)

    def test_are_shared(self):
        for places in (1, 2, 4):
            out, _ = self.run_places(places, "sh", "-c", "echo $TULLE_WORKERS", options=["--tags", "none"])
            each = max(1, len(os.sched_getaffinity(0)) // places)
            self.assertEqual(out.splitlines(), [str(each)] * places)
        out, _ = self.run_places(2, "sh", "-c", "echo $TULLE_WORKERS", options=["--tags", "none", "--workers", "3"])
        self.assertEqual(out, "3\n3\n")

    def test_two_programs_at_once(self):
        both = [self.start(3, CONDUCT, "count", str(code)) for code in (3, 4)]
        for process, code in zip(both, (3, 4)):
            out, err = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, out, err), (code, "3 places, mask 7\n", ""))


if __name__ == "__main__":
    unittest.main()
