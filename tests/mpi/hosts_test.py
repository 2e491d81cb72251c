# SPDX-License-Identifier: Apache-2.0
"""Places that an MPI starts on this host: by its mpirun, and by `tulle run --hosts`. Arguments: over_mpi.py."""
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import unittest

from over_mpi import (CONDUCT, CONTRACT, FLAVOUR, FOLDER, IDLE_SHARE, MEASURES, MPIRUN, PATIENCE, SURVIVAL, SURVIVES, TULLE, WORK, MpiTest,
                      survivors_say)
import bench_page
import blocked_signals
import mpi
from processes import processes, processor_seconds


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


if __name__ == "__main__":
    unittest.main()
