# SPDX-License-Identifier: Apache-2.0
"""Places that an MPI starts: by its mpirun, by `tulle run --hosts` on this host, and on the two hosts of scripts/two-hosts.
Arguments: the path of the program `tulle`, the folder of the programs `conduct`, `work` and `contract`, the mpirun."""
import json
import math
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
TWO_HOSTS = os.path.join(HERE, "..", "..", "scripts", "two-hosts")
CANNOT_BE_MADE = 125
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import bench_page  # noqa: E402
import blocked_signals  # noqa: E402
import mpi  # noqa: E402
from processes import MARK, command_line, processes, processor_seconds  # noqa: E402

MPIRUN = sys.argv.pop()
FOLDER = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
FILES = os.path.join(os.path.dirname(FOLDER), "test.compat.tnt.c.files")
CONDUCT, WORK, CONTRACT = (os.path.join(FOLDER, name) for name in ("conduct", "work", "contract"))
OPEN_MPI = mpi.is_open_mpi(MPIRUN)
FLAVOUR = "openmpi" if OPEN_MPI else "mpich"
SURVIVES = mpi.survives_deaths(MPIRUN)
BUILT_BENCH = os.path.join(os.path.dirname(os.path.dirname(TULLE)), "libexec", "tulle", "bench-tulle")
MEASURES = os.environ.get("TULLE_TEST_MEASURES") != "0"  # beside other tests, or where a sanitizer takes time
PATIENCE = 60  # seconds, for what must not hang
IDLE_SHARE = 0.05  # of a processor; less than half of it on a quiet machine


class MpiTest(unittest.TestCase):
    def setUp(self):
        self.mark = uuid.uuid4().hex

    def environment(self, more):
        kept = {name: value for name, value in mpi.environment().items() if not name.startswith("TULLE_")}
        return {**kept, MARK: self.mark, **more}

    def start(self, words, more):
        return subprocess.Popen(words, text=True, env=self.environment(more), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run_words(self, words, code=0, input="", patience=PATIENCE, **more):
        process = self.start(words, more)
        try:
            out, err = process.communicate(input, timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail((words, "takes too long", process.communicate(timeout=PATIENCE)))
        self.assertEqual(process.returncode, code, (words, out[-1000:], err[-3000:]))
        return out, err

    def by_mpirun(self, places, *words, **more):
        return self.run_words([*mpi.launch(MPIRUN), "-n", str(places), *words], **more)

    def on_hosts(self, hosts, places, *words, options=(), **more):
        return self.run_words([TULLE, "run", "--hosts", hosts, "-n", str(places), "--mpi", FLAVOUR, *options, "--", *words], **more)

    def expect_no_places(self):
        """They may take a moment to end."""
        end = time.monotonic() + PATIENCE / 2
        while processes(self.mark, "conduct") and time.monotonic() < end:
            time.sleep(0.01)
        self.assertEqual(processes(self.mark, "conduct"), [])

    def path_with_a_launcher_whose_input_must_not_end(self):
        """PATH, with a launcher that fails if its input ends within a moment."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, os.path.basename(MPIRUN))
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""#!{sys.executable}
import os, select, sys
if "--version" not in sys.argv and select.select([0], [], [], 0.2)[0]:
    sys.exit("the input of the launcher has ended")
os.execv("{MPIRUN}", ["{MPIRUN}", *sys.argv[1:]])
""")
        os.chmod(path, stat.S_IRWXU)
        return folder.name + ":" + os.environ["PATH"]

    def expect_passed(self, out):
        """Those for which there are too few processes, and what an MPI cannot do, are skipped."""
        self.assertGreater(int(re.search(r"\[  PASSED  \] (\d+) tests", out)[1]), 12, out[-3000:])


class Contract(MpiTest):
    """Of transports, each place in a process of its own."""

    def test_contract(self):
        for places in (2, 4):
            self.expect_passed(self.by_mpirun(places, CONTRACT, FLAVOUR, GTEST_COLOR="no")[0])


class Mpirun(MpiTest):
    """A program without anything of Tulle around it."""

    def test_all_places_take_part(self):
        for places in (1, 2, 4):
            for way in ({}, {"TULLE_ON_HOST": "mpi"}):
                out, err = self.by_mpirun(places, CONDUCT, "count", **way)
                self.assertEqual((out, err), (f"{places} places, mask {2 ** places - 1}\n", ""), way)

    def test_work_of_all_kinds(self):
        for places in (2, 4):
            for way in ({}, {"TULLE_ON_HOST": "mpi"}):
                out, _ = self.by_mpirun(places, WORK, "exchange", **way)
                self.assertEqual(out, f"{places} places have exchanged\n")

    def test_global_memory(self):
        for way, reached in (({}, 4), ({"TULLE_ON_HOST": "mpi"}, 1)):
            out, _ = self.by_mpirun(4, WORK, "memory", **way)
            self.assertEqual(out, f"4 places, {reached} reached\n", way)

    def test_options_that_differ_are_told(self):
        each = [("TULLE_GLOBAL_MEMORY=16M", "TULLE_GLOBAL_MEMORY=64M", "TULLE_GLOBAL_MEMORY=67108864, and place 0 has 16777216"),
                ("TULLE_GLOBAL_LOW=0", "TULLE_GLOBAL_LOW=1", "TULLE_GLOBAL_LOW=1, and place 0 has 0"),
                ("TULLE_MEMORY_PLACES=0", "TULLE_MEMORY_PLACES=1", "TULLE_MEMORY_PLACES=1, and place 0 has 0")]
        for first, second, told in each:
            words = [*mpi.launch(MPIRUN), "-n", "1", "env", first, CONDUCT, "count", ":", "-n", "1", "env", second, CONDUCT, "count"]
            process = self.start(words, {})
            _, err = process.communicate("", timeout=PATIENCE)
            self.assertNotEqual(process.returncode, 0)
            self.assertIn("place 1 has " + told, err)

    def test_who_is_stopped_at_the_end_is_waited_for(self):
        self.by_mpirun(2, WORK, "stop", TULLE_ON_HOST="mpi")

    def test_places_that_are_not_to_be(self):
        out, _ = self.by_mpirun(3, CONDUCT, "count", TULLE_TRANSPORT="none")
        self.assertEqual(out, "1 places, mask 1\n" * 3)

    def test_processors_are_shared(self):
        out, _ = self.by_mpirun(4, CONDUCT, "workers")
        self.assertEqual(out.split(), [str(max(1, os.cpu_count() // 4))] * 4)
        out, _ = self.by_mpirun(2, CONDUCT, "workers", TULLE_WORKERS="3")
        self.assertEqual(out.split(), ["3"] * 2)

    def test_exit_code(self):
        self.by_mpirun(2, CONDUCT, "count", "3", code=3)

    def test_programs_that_a_place_starts_are_no_places(self):
        out, _ = self.by_mpirun(2, CONDUCT, "starts-itself")
        self.assertEqual(out, "1 places, mask 1\n")

    def test_missing_plugin(self):
        """A program that lies where there is none."""
        folder = os.path.join(FOLDER, self.mark, "far", "away")
        os.makedirs(folder)
        self.addCleanup(shutil.rmtree, os.path.join(FOLDER, self.mark))
        alone = shutil.copy(CONDUCT, folder)
        process = self.start([*mpi.launch(MPIRUN), "-n", "2", alone, "count"], {})
        _, err = process.communicate("", timeout=PATIENCE)
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(err, rf"libtulle-mpi-{FLAVOUR}\.so.*Debian: lib{FLAVOUR}-dev.*TULLE_TRANSPORT=none")


@unittest.skipUnless(MEASURES, "beside other tests, or a build with a sanitizer")
class Idle(MpiTest):
    def test_places_use_hardly_any_processor_time(self):
        seconds = 2
        for way in ({}, {"TULLE_ON_HOST": "mpi"}):
            process = self.start([*mpi.launch(MPIRUN), "-n", "4", CONDUCT, "waits"], way)
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
            self.assertEqual(process.stdout.readline(), "ready\n")
            used = []  # of the busiest place
            while len(used) < 4 and min(used, default=seconds) > IDLE_SHARE * seconds:  # they may not be idle at once
                time.sleep(0.5)
                places = processes(self.mark, "conduct")
                self.assertEqual(len(places), 4)
                before = {each: processor_seconds(each) for each in places}
                time.sleep(seconds)
                used.append(max(processor_seconds(each) - before[each] for each in places))
            self.assertLessEqual(min(used), IDLE_SHARE * seconds, way)
            process.communicate("", timeout=PATIENCE)
            self.assertEqual(process.returncode, 0)


class RunHosts(MpiTest):
    HOST = "localhost"

    def test_as_on_this_machine(self):
        out, err = self.on_hosts(self.HOST, 4, CONDUCT, "count")
        self.assertEqual((out, err), ("4 places, mask 15\n", ""))
        self.on_hosts(self.HOST, 3, CONDUCT, "count", "3", code=3)
        out, _ = self.on_hosts(self.HOST, 2, CONDUCT, "reads", input="some text")
        self.assertEqual(out, "0: 'some text'\n1: ''\n")

    def test_tags(self):
        tagged = ["[1] one", "[1] two"]
        for options, lines in (((), tagged + ["one", "two"]), (("--tags", "all"), ["[0] one", "[0] two"] + tagged),
                               (("--tags", "none"), ["one", "one", "two", "two"])):
            out, _ = self.on_hosts(self.HOST, 2, CONDUCT, "prints", options=options)
            self.assertEqual(sorted(out.splitlines()), lines)

    def test_lines_of_all_places_are_whole_in_a_file_and_in_a_pipe(self):
        """They write buffers, which end within lines."""
        lines = 20_000
        for options, first in (((), ""), (("--tags", "all"), "[0] ")):
            expected = sorted((f"[{k}] " if k != 0 else first) + "abc"[k] * 70 for k in range(3) for _ in range(lines))
            out, _ = self.on_hosts(self.HOST, 3, CONDUCT, "prints-many-lines", str(lines), options=options)
            self.assertTrue(sorted(out.splitlines()) == expected, ("a line is cut", options))
            with tempfile.TemporaryFile("w+") as file:
                words = [TULLE, "run", "--hosts", self.HOST, "-n", "3", "--mpi", FLAVOUR, *options, "--", CONDUCT, "prints-many-lines", str(lines)]
                subprocess.run(words, env=self.environment({}), stdin=subprocess.DEVNULL, stdout=file, check=True, timeout=PATIENCE)
                file.seek(0)
                self.assertTrue(sorted(file.read().splitlines()) == expected, ("a line is cut", options))

    def test_handlers_are_for_threads_of_the_program(self):
        out, _ = self.on_hosts(self.HOST, 2, CONDUCT, "blocked-signals", options=["--tags", "none"])
        blocked_signals.check(self, out, ["tulle-service"])

    def test_options_arrive(self):
        out, _ = self.on_hosts(self.HOST, 2, CONDUCT, "workers", options=["--workers", "3"])
        self.assertEqual(sorted(out.splitlines()), ["3", "[1] 3"])

    def test_death_of_a_place_names_it(self):
        for how, code, reason in (("exits", 5, "exit code 5"), ("aborts", 128 + 6, "ended by signal 6 (Aborted)"),
                                  ("is-killed", 128 + 9, "ended by signal 9 (Killed)")):
            _, err = self.on_hosts(self.HOST, 3, CONDUCT, how, "2", code=code)
            self.assertIn(f"tulle: run: place 2: {reason}; the others are stopped\n", err)
        self.on_hosts(self.HOST, 2, CONDUCT, "exits", "0", code=5)
        self.expect_no_places()

    def test_a_place_that_ends_without_having_used_tulle(self):
        """The others would wait for it for ever."""
        for place in (0, 1, 2):
            _, err = self.on_hosts(self.HOST, 3, CONDUCT, "never-takes-part", str(place), code=min(place, 1))
            self.assertIn(f"tulle: run: place {place}: exit code 0 before it used Tulle; the others are stopped\n", err)
        self.expect_no_places()

    def test_places_that_are_no_places(self):
        """They run for themselves."""
        out, err = self.on_hosts(self.HOST, 3, "sh", "-c", "echo one")
        self.assertEqual((sorted(out.splitlines()), err), (["[1] one", "[2] one", "one"], ""))

    def test_a_place_that_leaves_in_the_middle(self):
        """With an exit code that says that all is well."""
        _, err = self.on_hosts(self.HOST, 3, CONDUCT, "leaves", "2", code=1)
        self.assertIn("tulle: run: place 2: exit code 0; the others are stopped\n", err)
        self.on_hosts(self.HOST, 3, CONDUCT, "leaves", "0", code=0)
        self.expect_no_places()

    def test_a_host_that_does_not_exist(self):
        begin = time.monotonic()
        process = self.start([TULLE, "run", "--hosts", f"{self.HOST},no.such.host.invalid", "--mpi", FLAVOUR, "--", CONDUCT, "count"],
                             {"TULLE_START_TIMEOUT": "5"})
        _, err = process.communicate("", timeout=PATIENCE)
        self.assertNotEqual(process.returncode, 0)
        self.assertLess(time.monotonic() - begin, PATIENCE - 10)
        self.assertRegex(err, r"tulle: run: places? (0, )?1 on (localhost, )?no\.such\.host\.invalid \(.*\): not started")
        self.expect_no_places()

    @unittest.skipIf(SURVIVES, "this MPI can")
    def test_that_deaths_cannot_be_survived_is_told(self):
        options = ["--set", "on_place_death=throw"]
        out, err = self.on_hosts(self.HOST, 2, CONDUCT, "count", options=options)
        self.assertEqual(out, "2 places, mask 3\n")
        self.assertRegex(err, r"TULLE_ON_PLACE_DEATH=throw has no effect: an MPI has started the places")
        _, err = self.on_hosts(self.HOST, 3, CONDUCT, "survives", "2", "is-killed", options=options, code=128 + 9)
        self.assertIn("tulle: run: place 2: ended by signal 9 (Killed); the others are stopped\n", err)

    def test_signals_end_all(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.start([TULLE, "run", "--hosts", self.HOST, "-n", "3", "--mpi", FLAVOUR, "--", CONDUCT, "waits"], {})
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(number)
            _, err = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 128 + number, err)
            self.expect_no_places()

    def test_input_that_has_ended_is_not_passed_on_by_the_launcher(self):
        """MPICH's is ended by SIGPIPE when it learns of the end after the first place has ended."""
        path = self.path_with_a_launcher_whose_input_must_not_end()
        reader, writer = os.pipe()
        os.close(writer)
        with open(reader, "rb") as ended, open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as empty:
            for file in (ended, nothing, empty):
                done = subprocess.run([TULLE, "run", "--hosts", self.HOST, "-n", "2", "--mpi", FLAVOUR, "--", CONDUCT, "reads"], text=True,
                                      env=self.environment({"PATH": path}), stdin=file, capture_output=True, timeout=PATIENCE)
                self.assertEqual((done.returncode, done.stdout), (0, "0: ''\n1: ''\n"), done)

    def test_missing_program(self):
        _, err = self.on_hosts(self.HOST, 2, "/nowhere/to/be/found", code=127)
        self.assertIn("run: place 0 cannot run '/nowhere/to/be/found': No such file or directory", err)

    def test_usage(self):
        for hosts, places, complaint in (("a,b", 1, "1 places do not fit the hosts"), ("a:2", 3, "3 places do not fit"), ("a:x", 1, "'a:x' is not"),
                                         ("a:0", 1, "'a:0' is not"), ("a,,b", 4, "a name is missing"), ("-x", 1, "a name is missing")):
            done = subprocess.run([TULLE, "run", f"--hosts={hosts}", "-n", str(places), "true"], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(complaint, done.stderr)

    def test_no_launcher(self):
        _, err = self.run_words([TULLE, "run", "--hosts", "localhost", "true"], code=1, PATH="/nowhere")
        self.assertRegex(err, r"places on several hosts need an MPI, and none can be used:\n.*Open MPI.*openmpi-bin.*\n.*MPICH.*Debian: mpich")


class BenchHosts(MpiTest):
    """`tulle bench --hosts`. Shell scripts stand in for benchmark programs, so the figures are known."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for library, value in (("tulle", 10), ("tulle_c", 20), ("openmpi", 5), ("mpich", 5), ("memory", 1)):
            self.program(library, value)

    def program(self, library, value):
        """Prints a figure at its first place if it was told how many places there are."""
        figure = {"bench": "at", "library": library, "workers": 1, "places": 2, "n": 9, "value": value, "min": value, "max": value, "unit": "ns call",
                  "runs": 1, "ok": True, "curve": "call", "axis": "bytes", "at": 8}
        path = os.path.join(self.folder, "bench-" + library)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""#!/bin/sh
[ "$*" = --list ] && exec echo at {library}
[ "${{OMPI_COMM_WORLD_RANK-${{PMI_RANK}}}}${{OMPI_COMM_WORLD_SIZE-${{PMI_SIZE}}}}" = 02 ] || exit 0
case "$*" in *"--places 2"*) echo '{json.dumps(figure)}' ;; esac
""")
        os.chmod(path, stat.S_IRWXU)

    def bench(self, *words, code=0):
        return self.run_words([TULLE, "bench", "at", "--hosts", "localhost", "--mpi", FLAVOUR, "--dir", self.folder, *words], code=code)[0]

    def libraries(self, *words):
        return [(row["library"], row["mpi"], row["runs"]) for row in map(json.loads, self.bench("--json", *words).splitlines())]

    def test_ours_and_the_mpi_alone(self):
        self.assertEqual(self.libraries("--runs", "2"), [("tulle", FLAVOUR, 2), ("tulle_c", FLAVOUR, 2), (FLAVOUR, FLAVOUR, 2)])
        self.assertEqual(self.libraries("--quick", "--no-peers"), [("tulle", FLAVOUR, 1), ("tulle_c", FLAVOUR, 1)])

    def test_launchers_are_not_told_that_their_input_ends(self):
        path = self.path_with_a_launcher_whose_input_must_not_end()
        out, _ = self.run_words([TULLE, "bench", "at", "--hosts", "localhost", "--mpi", FLAVOUR, "--dir", self.folder, "--quick", "--json"], PATH=path)
        self.assertEqual(len(out.splitlines()), 3)

    def test_table_and_page_have_the_ratio_to_the_same_mpi(self):
        page = os.path.join(self.folder, "page.html")
        text = self.bench("--quick", "--html", page)
        self.assertIn(f"  ns call, 2 places over {FLAVOUR} ", text)
        self.assertRegex(text, r"(?m)^\s+\* tulle .* 2\.00$")
        self.assertRegex(text, r"(?m)^\s+\* tulle_c .* 4\.00$")
        self.assertEqual({(row["unit"].split()[0], row["axis"], row["on"]) for row in bench_page.Page(page).figures if "axis" in row},
                         {("ns", "bytes", f"2 places over {FLAVOUR}")})

    def test_over_each_mpi_that_is_there(self):
        out, _ = self.run_words([TULLE, "bench", "at", "--hosts", "localhost", "--dir", self.folder, "--quick", "--json"])
        rows = [json.loads(line) for line in out.splitlines()]
        over = {row["mpi"] for row in rows}
        self.assertIn(FLAVOUR, over)
        self.assertEqual({(row["library"], row["mpi"]) for row in rows}, {(library, each) for each in over for library in ("tulle", "tulle_c", each)})

    def test_a_program_that_fails(self):
        path = os.path.join(self.folder, "bench-tulle_c")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n[ \"$*\" = --list ] && exec echo at tulle_c\nexit 3\n")
        text = self.bench("--quick", code=1)
        self.assertIn(f"at: tulle_c with 2 places over {FLAVOUR} failed: exit code 3\n", text)
        self.assertIn(f", 2 places over {FLAVOUR} ", text)


SURVIVAL = ("--set", "on_place_death=throw")


def survivors_say(lost, ended, left):
    return (f"tulle: place {lost} has died: nobody knows how; 1 activity is lost\n"
            f"call: place {lost}\nfinish: place {lost}, 1 lost, {ended} ended\nleft: {left}\n")


@unittest.skipUnless(SURVIVES, "this MPI ends all places when one dies")
class Survival(MpiTest):
    def test_the_others_go_on(self):
        for how, reason in (("exits", "exit code 5"), ("aborts", "ended by signal 6 (Aborted)"), ("is-killed", "ended by signal 9 (Killed)")):
            for way in ({}, {"TULLE_ON_HOST": "mpi"}):
                out, err = self.on_hosts("localhost:4", 4, CONDUCT, "survives", "2", how, options=SURVIVAL, **way)
                self.assertEqual(out, survivors_say(2, 30, "0 1 3"), way)
                self.assertIn(f"tulle: run: place 2: {reason}; the others go on\n", err, way)  # libevent of Open MPI says more now and then

    def test_two_deaths(self):
        out, _ = self.on_hosts("localhost:3", 3, CONDUCT, "forks-to-the-dead", "0", options=SURVIVAL)
        self.assertEqual(sorted(out.splitlines()), [f"tulle: place {k} has died: nobody knows how; 1 activity is lost" for k in (1, 2)])

    def test_not_without_place_0(self):
        _, err = self.on_hosts("localhost:3", 3, CONDUCT, "is-killed", "0", options=SURVIVAL, code=128 + signal.SIGKILL)
        self.assertIn("tulle: run: place 0: ended by signal 9 (Killed); the others are stopped\n", err)
        self.expect_no_places()

    def test_not_without_one_that_has_not_used_tulle(self):
        """The others still wait for it."""
        for how, code in (("exits-early", 6), ("is-killed-early", 128 + signal.SIGKILL)):
            _, err = self.on_hosts("localhost:3", 3, CONDUCT, how, "2", options=SURVIVAL, code=code)
            self.assertIn("; the others are stopped\n", err)
            self.expect_no_places()

    def test_nobody_dies(self):
        out, err = self.on_hosts("localhost:4", 4, WORK, "exchange", options=SURVIVAL)
        self.assertEqual((out, err), ("4 places have exchanged\n", ""))

    def test_by_mpirun_alone(self):
        """Without being asked to, nobody goes on."""
        launcher = [*mpi.launch(MPIRUN), "--with-ft", "ulfm", "-n", "3", CONDUCT]
        out, _ = self.run_words([*launcher, "survives", "2", "is-killed"], TULLE_ON_PLACE_DEATH="throw")
        self.assertEqual(out, survivors_say(2, 20, "0 1"))
        process = self.start([*launcher, "is-killed", "2"], {})
        _, err = process.communicate("", timeout=PATIENCE)
        self.assertIn("tulle: place 2 has died, and place 0 ends with it", err)


class TwoHosts(MpiTest):
    """On the hosts `a` and `b` that scripts/two-hosts makes."""

    @classmethod
    def setUpClass(cls):
        done = subprocess.run([TWO_HOSTS, "true"], capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode == CANNOT_BE_MADE:
            raise unittest.SkipTest(done.stderr)

    def on_two(self, places, *words, where=("--hosts", "a,b"), **more):
        """On the hosts that `where` tells `tulle run`."""
        return self.run_words([TWO_HOSTS, TULLE, "run", *where, "-n", str(places), "--mpi", FLAVOUR, "--", *words], **more)

    def test_places_are_where_they_should(self):
        out, err = self.on_two(4, CONDUCT, "hosts")
        err = re.sub(r"\[a:\d+\] plm:rsh: Warning: setpgid.*\n", "", err)  # of Open MPI, where what stands for ssh has started sooner than it thinks
        self.assertEqual((out.splitlines(), err), (["0: a", "1: a", "2: b", "3: b"], ""))

    def test_an_allocation_of_pbs(self):
        """It tells by a file."""
        with tempfile.NamedTemporaryFile("w", suffix=".nodes") as file:
            file.write("a\nb\nb\n")
            file.flush()
            for places, where in ((3, "abb"), (2, "ab"), (6, "aabbbb")):
                out, _ = self.on_two(places, CONDUCT, "hosts", where=[], PBS_NODEFILE=file.name)
                self.assertEqual(out.splitlines(), [f"{k}: {name}" for k, name in enumerate(where)])

    def test_work_of_all_kinds(self):
        for places in (2, 4):
            out, _ = self.on_two(places, WORK, "exchange")
            self.assertEqual(out, f"{places} places have exchanged\n")

    def test_global_memory(self):
        out, _ = self.on_two(4, WORK, "memory")
        self.assertEqual(out, "4 places, 2 reached\n")

    @unittest.skipUnless(os.path.exists(FILES), "built without TNT")
    def test_files_input_and_output_of_place_0(self):
        self.assertEqual(self.on_two(4, FILES)[0], "")
        words = [f"word-{k}" for k in range(100)]
        for mode, options in (("lines", ()), ("streams", ("--io", "0"))):
            where = ("--hosts", "a,b", *options)
            out, _ = self.on_two(4, FILES, mode, where=where, input="\n".join(words) + "\n")
            self.assertEqual(sorted(line.split(" at ")[0] for line in out.splitlines()), sorted(words), mode)
            out, _ = self.on_two(4, FILES, mode + "-at-last", where=where, input="\n".join(words) + "\n")
            self.assertEqual(out, "".join(f"{word} at 3\n" for word in words), mode)

    @unittest.skipUnless(os.path.exists(BUILT_BENCH), "built without benchmarks")
    def test_benchmark(self):
        out, _ = self.run_words([TWO_HOSTS, TULLE, "bench", "at", "--hosts", "a,b", "--mpi", FLAVOUR, "--quick", "--n", "200", "--json"],
                                patience=150)  # MPICH takes all processors while it waits
        rows = {(row["library"], row["unit"]): row for row in map(json.loads, out.splitlines())}
        for library in ("tulle", "tulle_c", FLAVOUR):
            row = rows[library, "ns call"]
            self.assertEqual((row["ok"], row["places"], row["mpi"]), (True, 2, FLAVOUR))
            self.assertGreater(row["value"], 0)

    def test_contract(self):
        for places in (2, 4):
            self.expect_passed(self.on_two(places, CONTRACT, FLAVOUR, GTEST_COLOR="no")[0])

    def test_exit_code_and_death(self):
        self.on_two(4, CONDUCT, "count", "3", code=3)
        _, err = self.on_two(4, CONDUCT, "is-killed", "3", code=128 + 9)
        self.assertIn("tulle: run: place 3: ended by signal 9 (Killed); the others are stopped\n", err)

    def in_a(self, script):
        """A script in Python on host a, where `on_two(WORDS...)` starts places and `cable(up)` is what connects the hosts."""
        head = f"""
import os, signal, subprocess, sys, time
LIMIT = 3
def on_two(*words, program="{CONDUCT}"):
    job = subprocess.Popen(["{TULLE}", "run", "--hosts", "a,b", "-n", "4", "--mpi", "{FLAVOUR}", "--set", f"host_timeout={{LIMIT}}", "--", program,
                            *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return job
def count(host, program="conduct"):
    found = subprocess.run(["ip", "netns", "pids", host], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return [name_of(process) for process in found].count(program)
def name_of(process):
    try:
        with open("/proc/" + process + "/comm") as file:
            return file.read().rstrip("\\n")
    except OSError:  # has ended
        return ""
def cable(state):
    subprocess.run(["ip", "-n", "b", "link", "set", "eth9", state], check=True)
"""
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(head + script)
            file.flush()
            return self.run_words([TWO_HOSTS, sys.executable, file.name])

    def expect_nobody_left(self, seconds):
        """Neither places, nor what has started them."""
        end = time.monotonic() + seconds
        while processes(self.mark) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual({each: command_line(each) for each in processes(self.mark)}, {})

    def test_a_cable_that_is_cut_while_places_start_ends_the_job(self):
        """Whoever waits at that moment: the launcher, its daemons, or the MPI of the places. A daemon of which no place has been started yet is its
        launcher's matter."""
        for moment in (0, 0.2, 0.7):
            self.in_a(f"""
os.environ["TULLE_START_TIMEOUT"] = "8"
job = on_two("waits")
while count("b") == 0:
    assert job.poll() is None
    time.sleep(0.01)
time.sleep({moment})
cable("down")
assert job.wait(40) != 0
""")
            self.expect_nobody_left(30)

    def test_a_host_that_is_cut_off_before_its_places_use_tulle_ends_the_job(self):
        """All places have been started, so nobody waits for that any more."""
        _, err = self.in_a("""
job = on_two("1000", program="sleep")
while count("a", "sleep") + count("b", "sleep") < 4:
    assert job.poll() is None
    time.sleep(0.01)
time.sleep(1)
cable("down")
assert job.wait(40) != 0
""")
        self.expect_nobody_left(30)
        self.assertIn("tulle: run: host b has not been heard for 3 s (TULLE_HOST_TIMEOUT); the job is stopped\n", err)

    def test_a_host_that_is_cut_off_for_good_counts_as_dead(self):
        _, err = self.in_a("""
job = on_two("waits")
job.stdout.readline()
time.sleep(LIMIT)
cable("down")
begin = time.monotonic()
assert job.wait(40) != 0
assert time.monotonic() - begin >= LIMIT - 1
""")
        self.expect_nobody_left(20)
        self.assertIn("host b has not been heard for 3 s (TULLE_HOST_TIMEOUT); places 2, 3 count as dead, and the places of host a end", err)

    def test_a_short_cut_is_survived(self):
        out, err = self.in_a("""
job = on_two("waits")
job.stdout.readline()
time.sleep(LIMIT)
cable("down")
time.sleep(1)
cable("up")
time.sleep(LIMIT + 1)
job.communicate("", timeout=40)
sys.exit(job.returncode)
""")
        self.assertNotIn("TULLE_HOST_TIMEOUT", err)

    def test_nobody_is_left_on_either_host_when_the_launcher_is_killed(self):
        self.in_a("""
job = on_two("waits")
job.stdout.readline()
job.kill()
job.wait()
""")
        self.expect_nobody_left(20)

    def test_nobody_is_left_on_either_host_when_the_launcher_is_killed_and_the_cable_cut(self):
        self.in_a("""
job = on_two("waits")
job.stdout.readline()
cable("down")
job.kill()
job.wait()
""")
        self.expect_nobody_left(30)

    def test_a_place_that_is_stopped_is_no_host_that_is_dead(self):
        _, err = self.in_a("""
job = on_two("waits")
job.stdout.readline()
time.sleep(0.5)
def conducts():
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = open(f"/proc/{number}/environ", "rb").read().split(b"\\0")
            is_one = os.path.basename(os.readlink(f"/proc/{number}/exe")) == "conduct"
            if is_one and (b"OMPI_COMM_WORLD_RANK=2" in environment or b"PMI_RANK=2" in environment) and MARK in environment:
                found.append(int(number))
        except OSError:
            pass
    return found
MARK = ("PLACES_TEST=" + os.environ["PLACES_TEST"]).encode()
place, = conducts()
os.kill(place, signal.SIGSTOP)
time.sleep(3 * LIMIT)
os.kill(place, signal.SIGCONT)
job.communicate("", timeout=40)
sys.exit(job.returncode)
""")
        self.assertIn("host b is there, but place 2 has not run for 3 s: is it stopped?", err)

    @unittest.skipUnless(SURVIVES, "this MPI ends all places when one dies")
    def test_survivors_go_on(self):
        for dead in (1, 3):
            out, _ = self.on_two(4, CONDUCT, "survives", str(dead), "is-killed", TULLE_ON_PLACE_DEATH="throw")
            self.assertEqual(out, survivors_say(dead, 30, " ".join(str(k) for k in range(4) if k != dead)))

    @unittest.skipUnless(MEASURES, "beside other tests, or a build with a sanitizer")
    def test_who_computes_answers(self):
        median = math.inf
        for _ in range(4):  # other programs may have the processors for a while
            if median >= 5000:
                out, _ = self.on_two(2, WORK, "compute", "300", TULLE_WORKERS="1")
                median = float(re.search(r"median (\S+) us", out)[1])
        self.assertLess(median, 5000, out)

    @unittest.skipUnless(MEASURES, "beside other tests, or a build with a sanitizer")
    def test_idle_places_use_hardly_any_processor_time(self):
        seconds = 2
        used = self.on_two(4, CONDUCT, "idle-time", str(seconds))[0].split()
        self.assertEqual(len(used), 4)
        for each in used:
            self.assertLessEqual(float(each), IDLE_SHARE * seconds)


if __name__ == "__main__":
    unittest.main()
