# SPDX-License-Identifier: Apache-2.0
"""`tulle bench`: names, JSON lines, table, page, and programs that fail. The figures themselves are not tested: real
benchmark programs run only where they are built, and fast ones only. Argument: the path of the program."""
import json
import math
import os
import re
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bench_page  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
BUILT = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "libexec", "tulle")
NAMES = ["fib", "switch", "yield", "create-one", "create-many", "create-blocks", "blocked", "mutex", "mutex-contended", "quicksort",
         "matmul", "hpccg", "uts", "wake", "idle", "startup"]
OVER_PLACES = {"at", "one-way", "barrier", "hpccg-places", "remote-create", "global-lock", "process-lock", "process-barrier", "global-fib", "global-sort", "onesided-sizes", "spanning", "progress", "coherent", "splash"}
NOBODY = 65534
FIELDS = {"bench": str, "library": str, "workers": int, "places": int, "n": int, "value": (int, float),
          "min": (int, float), "max": (int, float), "unit": str, "runs": int, "ok": bool}
LINE = ('{"bench": "%s", "library": "%s", "workers": \'$2\', "places": 1, "n": 9, "value": %g, "min": %g, "max": %g, '
        '"unit": "%s", "runs": 1, "ok": %s}')


# Stands in for scripts/switch-counts: knows two architectures.
COUNTS = """#!/bin/sh
here=$(dirname "$0")
if [ "$1" = --list ]; then
    echo '{"architecture": "sparc", "missing": null}'
    echo '{"architecture": "vax", "missing": %s}'
    exit
fi
echo "$2" >> "$here/counted"
%s
"""
COUNT = ('{"bench": "switch", "library": "%s", "workers": 1, "places": 1, "n": 9, "value": %g, "min": %g, "max": %g, "unit": "%s", "runs": 1, '
         '"ok": true, "architecture": "\'$2\'"%s}')

with open(PROGRAM, "rb") as program_file:
    ADDRESS_SANITIZED = b"__asan_version_mismatch_check" in program_file.read()


def bench(*words, **how):
    return subprocess.run([PROGRAM, "bench", *words], capture_output=True, text=True, errors="replace", timeout=110, **how)


def no_more_files():
    """For the child: descriptors 0 to 2 are all it gets, and one for the folder that it reads."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))


def no_more_processes():
    """For the child: a user who may have one process; root may always have more."""
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def figures(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


class Programs(unittest.TestCase):
    """Shell scripts stand in for benchmark programs, so the figures are known."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.scripts = {}

    def raw_program(self, name, script):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(path, stat.S_IRWXU)

    def program(self, workload, library, script):
        """Adds a benchmark to bench-LIBRARY; the script gets the options only."""
        self.scripts.setdefault(library, {})[workload] = script
        text = "case $1 in\n--list)\n"
        for name in self.scripts[library]:
            text += f"echo '{name} {library}'\n"
        text += ";;\n"
        for name, body in self.scripts[library].items():
            text += f"{name})\n[ \"$2\" = '{library}' ] || exit 99\nshift 2\n{body}\n;;\n"
        self.raw_program("bench-" + library, text + "*) exit 98 ;;\nesac\n")

    def prints(self, name, library, value, unit="ns", ok="true"):
        line = LINE % (name, library, value, value, value, unit, ok)
        self.program(name, library, f"echo '{line}'\n")

    def bench(self, *words, **how):
        return bench("--dir", self.folder, *words, **how)

    def page(self, *words):
        path = os.path.join(self.folder, "page.html")
        self.assertEqual(self.bench(*words, "--html", path, "--quick").returncode, 0)
        return bench_page.Page(path)

    def drawn(self, *words):
        """What the script of the page makes of it."""
        if not bench_page.NODE:
            self.skipTest("there is no Node.js")
        return bench_page.Drawn(self.page(*words))


class Faked(Programs):
    def test_json_repeats_every_figure(self):
        self.prints("mutex", "tulle", 5)
        self.prints("mutex", "pthread", 20)
        done = self.bench("mutex", "--json", "--runs", "3")
        self.assertEqual(done.returncode, 0, done)
        rows = {row["library"]: row for row in figures(done)}
        self.assertEqual(set(rows), {"tulle", "pthread"})
        self.assertEqual((rows["tulle"]["value"], rows["tulle"]["runs"], rows["tulle"]["workers"]), (5, 3, 1))

    def test_sizes_and_places_are_handed_on(self):
        line = LINE % ("barrier", "tulle_x", 1, 1, 1, "ns", "true")
        self.program("barrier", "openmpi", f'echo "$@" >> {self.folder}/words\necho \'{line}\'\n')
        launcher = os.path.join(self.folder, "mpirun.openmpi")
        with open(launcher, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "$4" >> %s/counts\nshift 4\nexec "$@"\n' % self.folder)
        os.chmod(launcher, stat.S_IRWXU)
        done = self.bench("barrier", "--quick", "--json", "--n", "777", "--places", "3,6", "--workers", "2",
                          env={**os.environ, "PATH": self.folder + ":" + os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done)
        with open(os.path.join(self.folder, "words"), encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines(), [f"--places {places} --workers 2 --runs 3 --quick --n 777" for places in (3, 6)])
        with open(os.path.join(self.folder, "counts"), encoding="utf-8") as file:
            self.assertEqual(file.read().split(), ["3", "6"])

    def test_those_over_places_get_the_places_and_others_the_workers(self):
        log = os.path.join(self.folder, "log")
        for name in ("hpccg", "hpccg-places"):
            line = LINE % (name, "openmpi", 1, 1, 1, "s", "true")
            self.program(name, "openmpi", f'echo {name} "$@" >> {log}\necho \'{line}\'\n'.replace("'$2'", "1"))
        launcher = os.path.join(self.folder, "mpirun.openmpi")
        with open(launcher, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nshift 4\nexec "$@"\n')
        os.chmod(launcher, stat.S_IRWXU)
        for names in (["qthreads"], ["hpccg", "hpccg-places"]):
            done = self.bench(*names, "--quick", "--places", "3", "--workers", "5", env={**os.environ, "PATH": self.folder + ":" + os.environ["PATH"]})
            self.assertEqual(done.returncode, 0, done)
            with open(log, encoding="utf-8") as file:
                self.assertEqual(file.read().splitlines(), ["hpccg --workers 5 --runs 3 --quick", "hpccg-places --places 3 --workers 1 --runs 3 --quick"])
            os.remove(log)

    def test_median_least_and_greatest_of_the_runs(self):
        line = LINE % ("mutex", "tulle", 0, 0, 0, "ns", "true")
        line = line.replace('"value": 0, "min": 0, "max": 0', '"value": \'$v\', "min": \'$v\', "max": \'$v\'')
        count = os.path.join(self.folder, "count")
        self.program("mutex", "tulle", f"v=$(cat {count} 2>/dev/null || echo 1)\necho $((v * 10)) > {count}\necho '{line}'\n")
        row, = figures(self.bench("mutex", "--json", "--runs", "3"))
        self.assertEqual((row["value"], row["min"], row["max"]), (10, 1, 100))

    def test_programs_take_turns(self):
        log = os.path.join(self.folder, "log")
        for library in ("tulle", "pthread"):
            line = LINE % ("mutex", library, 1, 1, 1, "ns", "true")
            self.program("mutex", library, f"echo {library} >> {log}\necho '{line}'\n")
        self.bench("mutex", "--runs", "3")
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read().split(), ["tulle", "pthread"] * 3)

    def test_table_has_the_ratio_to_the_best_peer(self):
        for library, value in (("tulle", 5), ("boost_fiber", 40), ("pthread", 20), ("serial", 1)):
            self.prints("mutex", library, value)
        text = self.bench("mutex", "--quick").stdout
        self.assertRegex(text, r"(?m)^\s+\* tulle .* 0\.25$")
        self.assertRegex(text, r"(?m)^\s+pthread .* 1\.00$")
        self.assertRegex(text, r"(?m)^\s+boost_fiber .* 2\.00$")

    def test_no_peers_leaves_ours_and_the_floor(self):
        for library in ("tulle", "tulle_c", "serial", "tbb"):
            self.prints("fib", library, 1)
        done = self.bench("fib", "--no-peers", "--json", "--workers", "1")
        self.assertEqual([row["library"] for row in figures(done)], ["tulle", "tulle_c", "serial"])

    def test_workers_reach_the_program(self):
        self.prints("fib", "tulle", 1)
        self.assertEqual([row["workers"] for row in figures(self.bench("fib", "--json"))], [1, 2])
        self.assertEqual([row["workers"] for row in figures(self.bench("fib", "--json", "--workers", "5"))], [5])

    def test_a_wrong_result_is_an_error(self):
        self.prints("mutex", "tulle", 5, ok="false")
        done = self.bench("mutex", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertFalse(figures(done)[0]["ok"])

    def test_a_program_that_dies_is_reported_and_the_rest_goes_on(self):
        self.program("mutex", "tulle", "kill -SEGV $$\n")
        self.prints("mutex", "pthread", 20)
        done = self.bench("mutex", "--json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("signal 11", done.stderr)
        rows = {row["library"]: row for row in figures(done)}
        self.assertEqual((rows["tulle"]["ok"], rows["tulle"]["value"]), (False, None))
        self.assertTrue(rows["pthread"]["ok"])

    def test_a_program_that_prints_nothing_is_an_error(self):
        self.program("mutex", "tulle", "exit 0\n")
        done = self.bench("mutex")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tulle with 1 worker failed: it printed no figure", done.stderr)

    def test_a_program_that_fails_is_reported_with_its_exit_code(self):
        self.program("mutex", "tulle", "exit 3\n")
        done = self.bench("mutex")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tulle with 1 worker failed: exit code 3", done.stderr)

    def test_page_needs_nothing_else(self):
        self.prints("mutex", "tulle", 5)
        page = self.page("mutex")
        self.assertEqual(page.loaded, [])
        self.assertNotRegex(page.text, r"https?:|url\(|@import|\bimport\b|fetch\(|XMLHttpRequest")
        self.assertIn("prefers-color-scheme: dark", page.text)

    def test_page_holds_the_figures_of_json(self):
        for library, value in (("tulle", 5), ("pthread", 20), ("serial", 1)):
            self.prints("mutex", library, value)
        path = os.path.join(self.folder, "page.html")
        rows = figures(self.bench("mutex", "--json", "--html", path))
        page = bench_page.Page(path)
        self.assertEqual([row["name"] for row in page.about["workloads"]], ["mutex"])
        by_library = {row["library"]: row for row in page.figures}
        self.assertEqual(len(by_library), 3)
        for row in rows:
            self.assertEqual({name: by_library[row["library"]][name] for name in row}, row)
        self.assertEqual([(row["library"], row["kind"], row.get("of_best"), row["on"]) for row in page.figures],
                         [("serial", "floor", 0.05, "1 worker"), ("tulle", "ours", 0.25, "1 worker"), ("pthread", "peer", 1, "1 worker")])

    def test_page_shows_the_figures(self):
        self.prints("mutex", "tulle", 5)
        self.prints("mutex", "a<b&c", 2000)
        drawn = self.drawn("mutex")
        self.assertEqual(len(drawn.plots), 1)
        self.assertEqual(len(drawn.all("rect")), 2)
        self.assertEqual(drawn.texts("h3"), ["ns, 1 worker"])
        self.assertEqual([row[:2] + row[-1:] for row in drawn.rows()], [["tulle", "5.00", "0.0025"], ["a<b&c", "2000", "1.00"]])
        self.assertIn(["a<b&c: median 2000 ns", "2000 to 2000, 1 run, n = 9", "1.00 of the best peer"], drawn.tips)

    def test_page_shows_what_failed(self):
        self.prints("mutex", "pthread", 20)
        self.program("mutex", "tulle", "kill -SEGV $$\n")
        path = os.path.join(self.folder, "page.html")
        self.assertEqual(self.bench("mutex", "--quick", "--html", path).returncode, 1)
        page = bench_page.Page(path)
        self.assertEqual([row["value"] for row in page.figures if row["library"] == "tulle"], [None])
        if bench_page.NODE:
            self.assertIn(["tulle: failed"], bench_page.Drawn(page).tips)

    def test_names_do_not_end_the_script(self):
        line = LINE % ("mutex", "</script><!--<script>", 1, 1, 1, "ns", "true")
        self.raw_program("bench-evil", f"[ $1 = --list ] && echo mutex evil || echo '{line}'\n".replace("'$2'", "1"))
        with open(os.path.join(os.fsencode(self.folder), b"bench-\xff"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 3\n")
        os.chmod(file.name, stat.S_IRWXU)
        page = self.page("mutex")
        self.assertEqual([row["library"] for row in page.figures], ["</script><!--<script>"])
        self.assertIn("bench-\ufffd is left out: --list failed: exit code 3", page.about["notes"])

    @unittest.skipUnless(bench_page.NODE, "there is no Node.js")
    def test_values_stand_beside_the_pointer(self):
        self.prints("mutex", "tulle", 5)
        drawn = self.drawn("mutex")
        self.assertEqual((drawn.tip_on["textContent"], drawn.tip_on["hidden"], drawn.tip_off["hidden"]), ("a <b>", False, True))
        self.assertEqual(drawn.tip_on["style"], {"left": "302px", "top": "36px"})  # left of the pointer, where there is room

    def test_page_that_cannot_be_written(self):
        self.prints("mutex", "tulle", 5)
        done = self.bench("mutex", "--html", "/nowhere/page.html")
        self.assertEqual(done.returncode, 2)
        self.assertIn("bench: cannot write /nowhere/page.html", done.stderr)

    def test_page_that_is_there_stays_until_there_is_another_one(self):
        self.prints("mutex", "tulle", 5)
        path = os.path.join(self.folder, "page.html")
        for words in (["mutx"], ["mutex", "--n", "5", "--places", "2"]):
            with open(path, "w", encoding="utf-8") as file:
                file.write("old page")
            self.assertEqual(self.bench(*words, "--html", path).returncode, 2)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "old page", words)
        self.assertEqual(self.bench("mutex", "--quick", "--html", path).returncode, 0)
        with open(path, encoding="utf-8") as file:
            self.assertNotIn("old page", file.read())
        fresh = os.path.join(self.folder, "fresh.html")
        self.assertEqual(self.bench("mutx", "--html", fresh).returncode, 2)
        self.assertFalse(os.path.exists(fresh))

    def test_page_that_does_not_fit(self):
        self.prints("mutex", "tulle", 5)
        done = self.bench("mutex", "--html", "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bench: cannot write /dev/full", done.stderr)

    @unittest.skipIf(ADDRESS_SANITIZED, "the sanitizer needs descriptors")
    def test_system_without_descriptors(self):
        self.prints("mutex", "tulle", 5)
        done = self.bench("mutex", "--no-peers", preexec_fn=no_more_files)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines()[-1], "tulle: pipe: Too many open files")

    @unittest.skipIf(ADDRESS_SANITIZED, "the leak checker needs a process")
    def test_system_without_processes(self):
        self.prints("mutex", "tulle", 5)
        os.chmod(self.folder, 0o755)
        program = os.path.join(self.folder, "program")  # where a user without rights can read it
        shutil.copy(PROGRAM, program)
        os.chmod(program, 0o755)
        done = subprocess.run([program, "bench", "--dir", self.folder, "mutex", "--no-peers"], capture_output=True, text=True,
                              timeout=60, preexec_fn=no_more_processes)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines()[-1], "tulle: fork: Resource temporarily unavailable")

    def test_empty_folder(self):
        done = self.bench()
        self.assertEqual(done.returncode, 1)
        self.assertIn("bench: there are no benchmark programs in " + self.folder, done.stderr)

    def test_a_program_has_variants(self):
        line = LINE % ("mutex", "tulle_c", 7, 7, 7, "ns", "true")
        self.raw_program("bench-tulle", f"[ $1 = --list ] && printf 'mutex tulle\\nmutex tulle_c\\n' || echo '{line}' | sed s/tulle_c/$2/\n".replace("'$2'", "1"))
        rows = figures(self.bench("mutex", "--json", "--quick"))
        self.assertEqual([row["library"] for row in rows], ["tulle", "tulle_c"])

    def test_programs_of_earlier_versions_are_passed_over(self):
        self.prints("mutex", "tulle", 5)
        self.raw_program("bench-mutex-tulle_old", f"touch {self.folder}/started\n")
        done = self.bench("mutex", "--quick", "--json")
        self.assertEqual((done.returncode, len(figures(done))), (0, 1))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "started")))

    def test_a_peer_that_does_not_start_is_a_line(self):
        self.prints("mutex", "tulle", 5)
        self.raw_program("bench-tbb", "exit 127\n")
        done = self.bench("mutex", "--quick")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("bench-tbb is left out: --list failed: exit code 127\n", done.stdout)
        self.assertNotIn("bench-tbb", self.bench("mutex", "--quick", "--no-peers").stdout)

    def test_ours_that_does_not_start_is_an_error(self):
        self.prints("mutex", "pthread", 5)
        self.raw_program("bench-tulle", "kill -SEGV $$\n")
        done = self.bench("mutex", "--quick")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("bench-tulle is left out: --list failed: ended by signal 11 (Segmentation fault)\n", done.stdout)

    def test_absent_peers_are_a_line_and_no_error(self):
        for bench_name, peers in (("fib", {"go", "java", "rayon"}), ("mutex", {"go", "java"}), ("channel", {"go"}), ("tnt-fft", set())):
            self.prints(bench_name, "tulle", 5)
            done = self.bench(bench_name, "--quick")
            self.assertEqual(done.returncode, 0)
            self.assertEqual(set(re.findall(r"(?m)^(\w+) is left out: its source is not installed$", done.stdout)), peers, bench_name)

    def with_go(self, exit_code, cache):
        """The environment in which a compiler of Go ends with this code."""
        os.makedirs(os.path.join(self.folder, "peers", "go"))
        tools = os.path.join(self.folder, "tools")
        os.makedirs(tools)
        with open(os.path.join(tools, "go"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexit {exit_code}\n")
        os.chmod(os.path.join(tools, "go"), stat.S_IRWXU)
        return {**os.environ, "PATH": tools + ":" + os.environ["PATH"], "XDG_CACHE_HOME": cache}

    def go_peer(self, *words, cache):
        """The peer in Go, with a compiler that fails."""
        self.prints("mutex", "tulle", 5)
        return self.bench("mutex", *words, env=self.with_go(7, cache)).stdout

    def test_peer_that_was_not_compiled(self):
        self.assertIn("go is left out: not compiled yet; a run without --quick compiles it", self.go_peer("--quick", cache=self.folder))

    def test_peer_that_does_not_compile(self):
        self.assertIn("go is left out: compiling it failed: exit code 7", self.go_peer(cache=self.folder))

    def test_peer_with_nowhere_to_go(self):
        self.assertRegex(self.go_peer(cache="/dev/null"), r"(?m)^go is left out: cannot write to /dev/null/")

    def test_peer_is_compiled_in_no_folder_of_others(self):
        homeless = {name: value for name, value in self.with_go(7, "").items() if name != "HOME"}
        self.prints("mutex", "tulle", 5)
        for variables in (homeless, {**homeless, "HOME": ""}):
            self.assertIn("go is left out: neither XDG_CACHE_HOME nor HOME says where it may be compiled", self.bench("mutex", env=variables).stdout)

    def test_server_in_another_language_is_beside_our_clients(self):
        self.prints("echo", "tulle", 5)
        variables = self.with_go(0, self.folder)
        clients = os.path.join(self.folder, "echo-clients")
        self.assertIn(f"go is left out: there is no {clients}\n", self.bench("echo", "--runs", "1", env=variables).stdout)
        line = (LINE % ("echo", "go", 7, 7, 7, "ns", "true")).replace("'$2'", "2")
        self.raw_program("echo-clients", f"echo \"$@\" > {self.folder}/words\necho '{line}'\n")
        done = self.bench("echo", "--runs", "1", "--json", env=variables)
        self.assertEqual({row["library"]: row["value"] for row in figures(done)}, {"tulle": 5, "go": 7})
        with open(os.path.join(self.folder, "words"), encoding="utf-8") as file:
            self.assertRegex(file.read(), "^go /.*/go/peer echo --workers 2 ")

    def test_peer_whose_toolchain_is_absent(self):
        self.prints("mutex", "tulle", 5)
        os.makedirs(os.path.join(self.folder, "peers", "go"))
        done = self.bench("mutex", env={**os.environ, "PATH": self.folder})
        self.assertIn("go is left out: needs Go\n", done.stdout)


class Backends(Programs):
    """Ours over several context switches."""

    def test_table_has_the_ratio_to_the_assembly(self):
        for library, value in (("tulle", 5), ("tulle_ucontext", 250), ("boost_context", 10)):
            self.prints("switch", library, value)
        text = self.bench("switch", "--quick").stdout
        self.assertRegex(text, r"(?m) of best +of asm$")
        self.assertRegex(text, r"(?m)^\s+\* tulle .* 0\.5 +1\.00$")
        self.assertRegex(text, r"(?m)^\s+\* tulle_ucontext .* 25\.0 +50\.0$")
        self.assertIn('"of asm": to tulle', text)

    def test_other_benchmarks_have_no_such_column(self):
        self.prints("mutex", "tulle", 5)
        self.assertNotIn("of asm", self.bench("mutex", "--quick").stdout)

    def test_a_set_stands_for_its_benchmarks_each_once(self):
        for name in ("switch", "paper-fib", "paper-scale", "paper-create", "mutex"):
            self.prints(name, "tulle", 5, unit="s")
        rows = figures(self.bench("paper-fib", "paper", "--workers", "1", "--json"))
        self.assertEqual([row["bench"] for row in rows], ["paper-fib", "switch", "paper-scale", "paper-create"])

    def test_several_numbers_of_workers(self):
        self.prints("switch", "tulle", 5)
        rows = figures(self.bench("--workers", "1,3,5", "switch", "--json"))
        self.assertEqual([row["workers"] for row in rows], [1, 3, 5])

    def test_page_has_curves_over_the_workers(self):
        for library, value in (("tulle", 1), ("tulle_setjmp", 3), ("tulle_ucontext", 30)):
            self.prints("paper-fib", library, value, unit="s")
        drawn = self.drawn("paper-fib", "--workers", "1,2,4")
        self.assertEqual(len(drawn.plots), 3 + 2)  # bars for each number of workers, times, speed-ups
        self.assertEqual(len(drawn.curves), 2 * 3)
        self.assertEqual(len(drawn.all("line", class_="ideal")), 1)
        self.assertIn(["4 workers", "tulle_ucontext: 30.0 s", "tulle_setjmp: 3.00 s", "tulle: 1.00 s"], drawn.tips)
        self.assertIn("30.0, 30.0 x tulle", drawn.texts("text"))

    def test_page_of_one_number_of_workers_has_none(self):
        self.prints("paper-fib", "tulle", 1, unit="s")
        drawn = self.drawn("paper-fib", "--workers", "2")
        self.assertEqual((len(drawn.plots), len(drawn.curves)), (1, 0))

    def test_page_tells_sizes_that_do_not_compare(self):
        self.prints("paper-fib", "tulle", 2, unit="s")
        line = LINE % ("paper-fib", "tulle_setjmp", 9, 9, 9, "s", "true")
        self.program("paper-fib", "tulle_setjmp", f"echo '{line}'\n".replace('"n": 9', '"n": 5'))
        drawn = self.drawn("paper-fib", "--workers", "1")
        self.assertIn("9.00 (n = 5)", drawn.texts("text"))


class Charts(Programs):
    """Figures that say where on a curve they lie."""

    def prints_curves(self, name, library, curves, axis="samples"):
        """curves: {curve: {at: value with one worker}}; it is divided by the number of workers."""
        lines = []
        for curve, points in curves.items():
            for at, cost in points.items():
                line = LINE % (name, library, cost, cost, cost, f"us {curve} {at}", "true")
                line = line.replace(f'"value": {cost:g}', f'"value": \'$(({cost} / $2))\'')
                lines.append(f"echo '{line[:-1]}, \"curve\": \"{curve}\", \"axis\": \"{axis}\", \"at\": {at}}}'")
        self.program(name, library, "\n".join(lines) + "\n")

    def test_objects_say_where_they_lie(self):
        self.prints_curves("tnt-fft", "tulle", {"a": {8: 40}})
        rows = figures(self.bench("tnt-fft", "--workers", "1", "--json"))
        self.assertEqual([(row["curve"], row["axis"], row["at"], row["value"]) for row in rows], [("a", "samples", 8, 40)])

    def test_points_are_not_mixed_whatever_their_units_say(self):
        self.prints_curves("tnt-fft", "tulle", {"a": {8: 40, 16: 80}, "b": {8: 120}})
        path = os.path.join(self.folder, "bench-tulle")
        with open(path, encoding="utf-8") as file:
            text = re.sub(r'"us [ab] \d+"', '"us"', file.read())
        self.raw_program("bench-tulle", text)
        rows = figures(self.bench("tnt-fft", "--workers", "1", "--runs", "3", "--json"))
        self.assertEqual([(row["curve"], row["at"], row["value"], row["runs"]) for row in rows], [("a", 8, 40, 3), ("a", 16, 80, 3), ("b", 8, 120, 3)])

    def test_page_has_a_line_for_each_curve_and_no_bars(self):
        self.prints_curves("tnt-fft", "tulle", {"a": {8: 40, 16: 80, 1024: 160}, "b": {8: 20, 16: 30, 1024: 60}})
        self.prints_curves("tnt-fft", "pthread", {"a": {8: 50, 16: 100, 1024: 200}})
        drawn = self.drawn("tnt-fft", "--workers", "1")
        self.assertEqual((len(drawn.plots), len(drawn.curves), len(drawn.all("g", class_="row"))), (1, 3, 0))
        self.assertEqual(drawn.texts("h3"), ["us by the number of samples, 1 worker"])
        self.assertIn(["1024 samples", "pthread a: 200 us", "tulle a: 160 us", "tulle b: 60.0 us"], drawn.tips)
        self.assertEqual([row[1] for row in drawn.rows() if row[0] == "tulle a"], ["8", "16", "1024"])
        dashes = {curve.get("style"): set() for curve in drawn.curves}
        for curve in drawn.curves:
            dashes[curve.get("style")].add(curve.get("class"))
        self.assertEqual(sorted(map(len, dashes.values())), [1, 2])  # a colour for each library, dashes for each of its curves

    def test_page_names_axes_and_scales(self):
        self.prints_curves("at", "tulle", {"": {8: 2, 1024: 800}})
        self.prints_curves("tnt-fft", "tulle", {"": {8: 40, 16: 80}})
        drawn = self.drawn("at", "tnt-fft", "--workers", "1")
        self.assertEqual(drawn.texts("text", class_="title"), ["us", "samples", "us, logarithmic scale", "samples, logarithmic scale"])
        self.assertEqual([[text for text in svg if text.get("class") == "tick" and text.get("text-anchor") == "end"] != []
                          for svg in drawn.plots], [True, True])
        decades, = [[text.text for text in svg.iter("text") if text.get("class") == "tick" and text.get("text-anchor") == "end"]
                    for svg in drawn.plots if "logarithmic" in "".join(svg.itertext())]
        self.assertEqual(decades, ["1", "10", "100", "1000"])

    def test_page_cuts_no_text_off(self):
        for library, value in (("tulle", 61.2), ("tulle_of_a_very_long_name_that_takes_much_room", 1126)):
            self.prints("paper-fib", library, value, unit="s")
        for k in range(25):
            self.prints_curves("at", f"library_{k}", {"of_a_long_name": {8: 40 + k, 1024: 41 + k}})
        drawn = self.drawn("paper-fib", "at", "--workers", "1,2,4")
        self.assertEqual(len(drawn.plots), 3 + 2 + 1)
        for svg in drawn.plots:
            bench_page.expect_no_text_cut(self, svg)
        names = sorted(float(text.get("y")) for g in drawn.plots[0].iter("g") if "curve" in g.get("class", "") for text in g.iter("text"))
        self.assertEqual(len(names), 25)
        self.assertGreaterEqual(min(b - a for a, b in zip(names, names[1:])), 15)

    def colour(self, page, curve, scheme):
        """Of a curve, in the coordinates of OKLab, in which equal distances look equal."""
        which = "odd" if "odd" in curve.get("class").split() else "even"
        lightness, = re.findall(rf"--{which}: (\d+)%", page.text.split("@media (prefers-color-scheme: dark)")[scheme])
        chroma, = re.findall(r"\.curve \{ --colour: oklch\(var\(--even\) (\.\d+) var\(--hue\)\)", page.text)
        hue = math.radians(float(curve.get("style").removeprefix("--hue:")))
        return int(lightness) / 100, float(chroma) * math.cos(hue), float(chroma) * math.sin(hue)

    def test_page_has_a_colour_for_each_library(self):
        libraries = ["memory", "mpich", "openmpi", "tulle", "tulle_c", "tulle_more", "tulle_most", "tulle_view", *(f"peer_{k}" for k in range(10))]
        for library in libraries:
            self.prints_curves("at", library, {"": {8: 40, 16: 80}})
        drawn = self.drawn("at", "--workers", "1")
        page = self.page("at", "--workers", "1")
        for scheme in (0, 1):
            colours = [self.colour(page, curve, scheme) for curve in drawn.curves]
            self.assertEqual(len(colours), len(libraries))
            self.assertGreater(min(math.dist(a, b) for k, a in enumerate(colours) for b in colours[:k]), 0.05)

    def test_page_has_the_speed_up_over_fewer_workers(self):
        self.prints_curves("tnt-fft", "tulle", {"": {8: 40, 16: 80}})
        drawn = self.drawn("tnt-fft", "--workers", "1,4")
        self.assertEqual(len(drawn.plots), 3)  # times with each number of workers, one speed-up
        self.assertIn("speed-up by the number of samples, 4 workers over 1 worker; higher is better", drawn.texts("h3"))
        self.assertIn(["16 samples", "tulle: 4.00 x"], drawn.tips)

    def test_bytes_are_written_as_people_say_them(self):
        self.prints_curves("at", "memory", {"": {16: 40, 65536: 80, 1048576: 90}}, axis="bytes")
        drawn = self.drawn("at", "--workers", "1")
        self.assertLessEqual({"16", "64 K", "1 M"}, set(drawn.texts("text", class_="tick")))
        self.assertIn(["64 K bytes", "memory: 40.0 us"], drawn.tips)

    def test_one_place_on_the_axis_is_a_row_without_a_line(self):
        self.prints_curves("tnt-fft", "tulle", {"": {8: 40}})
        drawn = self.drawn("tnt-fft", "--workers", "1")
        self.assertEqual((len(drawn.plots), [row[:3] for row in drawn.rows()]), (0, [["tulle", "8", "40.0"]]))


class Emulated(Programs):
    """A shell script stands in for the one that compiles and counts."""

    def setUp(self):
        super().setUp()
        self.prints("switch", "tulle", 5)

    def counts(self, missing='"vax-g++"', body=None):
        lines = []
        for library, instructions, traps, more in (("tulle", 18.5, 0, ', "limit": 20'), ("tulle_ucontext", 92.5, 2, "")):
            for unit, value, last in (("instructions/switch", instructions, more), ("system calls/switch", traps / 2, ""), ("kernel traps/switch", traps, "")):
                lines.append("echo '" + COUNT % (library, value, value, value, unit, last) + "'")
        path = os.path.join(self.folder, "switch-counts")
        with open(path, "w", encoding="utf-8") as file:
            file.write(COUNTS % (missing, "\n".join(lines) if body is None else body))
        os.chmod(path, stat.S_IRWXU)

    def counted(self):
        path = os.path.join(self.folder, "counted")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return file.read().split()

    def refused(self, code, message, *words):
        """Before anything is measured."""
        done = self.bench(*words, "--json")
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stderr, f"tulle: bench: {message}\n")
        self.assertEqual((done.stdout, self.counted()), ("", []))

    def test_objects_name_the_architecture_and_the_limit(self):
        self.counts(missing="null")
        done = self.bench("switch", "--quick", "--json", "--emulated")
        self.assertEqual(done.returncode, 0, done)
        rows = figures(done)
        self.assertEqual(set(rows[0]), set(FIELDS))  # measured here
        self.assertEqual(self.counted(), ["sparc", "vax"])
        self.assertEqual([row["architecture"] for row in rows[1:]], ["sparc"] * 6 + ["vax"] * 6)
        self.assertEqual(set(rows[1]), set(FIELDS) | {"architecture", "limit"})
        self.assertEqual((rows[1]["value"], rows[1]["unit"], rows[1]["limit"]), (18.5, "instructions/switch", 20))
        self.assertEqual((rows[6]["library"], rows[6]["value"], rows[6]["unit"]), ("tulle_ucontext", 2, "kernel traps/switch"))
        self.assertEqual(set(rows[6]), set(FIELDS) | {"architecture"})

    def test_table_has_a_row_for_each_architecture_and_switch(self):
        self.counts(missing="null")
        text = self.bench("switch", "--quick", "--emulated").stdout
        self.assertRegex(text, r"(?m)^ +architecture +instructions +of asm +limit +system calls +kernel traps$")
        for name in ("sparc", "vax"):
            self.assertRegex(text, rf"(?m)^ +{name} +\* tulle +18\.5 +1\.00 +20\.0 +0 +0$")
            self.assertRegex(text, rf"(?m)^ +{name} +\* tulle_ucontext +92\.5 +5\.00 +- +1\.00 +2\.00$")

    def test_page_shows_the_counts(self):
        self.counts(missing="null")
        drawn = self.drawn("switch", "--emulated")
        self.assertEqual(len(drawn.plots), 1 + 3)  # the time, and each unit of the counts
        self.assertIn("instructions/switch, counted below emulators", drawn.texts("h3"))
        self.assertIn("vax tulle_ucontext", drawn.texts("text"))
        self.assertIn("92.5, 5.00 x tulle", drawn.texts("text"))
        self.assertIn(["vax tulle: median 18.5 instructions/switch", "18.5 to 18.5, 1 run, n = 9", "at most 20.0"], drawn.tips)

    def test_what_is_missing_is_reported_and_the_rest_counted(self):
        self.counts()
        done = self.bench("paper", "--quick", "--emulated")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("vax is not counted: vax-g++ is not installed; in the source tree, `scripts/bootstrap cross vax` installs it\n", done.stdout)
        self.assertEqual(self.counted(), ["sparc"])

    def test_chosen_architectures(self):
        for words in (("--emulated", "vax", "sparc", "vax"), ("--emulated", "vax,sparc"), ("--emulated=vax,sparc",)):
            self.counts(missing="null")
            self.assertEqual(self.bench("switch", "--quick", *words).returncode, 0)
            self.assertEqual(self.counted(), ["vax", "sparc"], words)
            os.remove(os.path.join(self.folder, "counted"))

    def test_unknown_architecture(self):
        self.counts()
        self.refused(2, "there is no architecture 'pdp11' to count on; there are sparc, vax", "switch", "--emulated", "sparc", "pdp11")

    def test_chosen_architecture_that_lacks_something(self):
        self.counts()
        self.refused(1, "cannot count on vax: vax-g++ is not installed; in the source tree, `scripts/bootstrap cross vax` installs it",
                     "switch", "--emulated", "sparc", "vax")

    def test_benchmark_that_is_not_counted(self):
        self.counts()
        self.refused(2, "--emulated is for the benchmark `switch`, or `paper`, which has it", "mutex", "--emulated")

    def test_program_without_the_source_tree(self):
        self.refused(1, f"--emulated compiles sources of Tulle, and there is no link to them in {self.folder}; the program `tulle` of a build in the "
                     "source tree has it", "switch", "--emulated")

    def test_machine_on_which_nothing_can_be_counted(self):
        self.counts()
        path = os.path.join(self.folder, "switch-counts")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"missing": null', '"missing": "qemu-sparc"'))
        self.refused(1, "there is no architecture to count on: sparc: qemu-sparc is not installed; in the source tree, `scripts/bootstrap cross sparc` "
                     "installs it", "switch", "--emulated")

    def test_script_that_does_not_run(self):
        path = os.path.join(self.folder, "switch-counts")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/nowhere/python3\n")
        os.chmod(path, stat.S_IRWXU)
        self.refused(1, f"{path} (which needs python3) failed: exit code 127", "switch", "--emulated")

    def test_counting_that_fails_is_reported(self):
        for body, reason in (("exit 3", "exit code 3"), ("", "no count came out")):
            self.counts(body=body)
            done = self.bench("switch", "--quick", "--emulated", "sparc")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"switch: counting on sparc failed: {reason}\n", done.stdout)


class Usage(unittest.TestCase):
    def test_list(self):
        done = bench("--list")
        self.assertEqual(done.returncode, 0)
        listed = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertEqual(len(listed), len(set(listed)))
        self.assertLessEqual(set(NAMES), set(listed))
        self.assertEqual(listed[-6:], ["coherence", "dszoom", "octopos", "paper", "qthreads", "tnt"])

    def test_wrong_usage(self):
        for words, complaint in ((["blah"], "blah"), (["--runs", "0"], "--runs"), (["--runs", "x"], "--runs"),
                                 (["--workers", "0"], "--workers"), (["--workers", "1,x"], "--workers"),
                                 (["--blah"], "--blah"), (["at", "--mpi", "mpich"], "--mpi requires --hosts"),
                                 (["at", "--hosts", "a,b", "--mpi", "blah"], "--mpi"),
                                 (["fib", "--n", "0"], "--n"), (["fib", "--n", "few"], "--n"), (["at", "--places", "0"], "--places"),
                                 (["--n", "9"], "bench: --n and --places are for benchmarks that are named"),
                                 (["--places", "2"], "bench: --n and --places are for benchmarks that are named"),
                                 (["fib", "--places", "2"], "bench: 'fib' is not over places that may be chosen, and --places is for at, barrier, "),
                                 (["barrier", "at", "--places", "4"], "bench: 'at' is measured with 2 places"),
                                 (["progress", "--places", "1"], "bench: 'progress' is measured with at least 2 places"),
                                 (["fib", "blah"], "bench: there is no benchmark 'blah'")):
            done = bench(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(complaint, done.stderr)

    def test_hosts_that_do_not_fit(self):
        fit = "which do not fit the hosts: each has one at least, or as many as its number says"
        for names, hosts, complaint in ((["at"], "", "--hosts: "), (["at"], "a,,b", "--hosts: a name is missing in ''"), ([], "a:x", "'a:x' is not HOST or HOST:PLACES"),
                                        (["fib"], "a,b", "bench: 'fib' is not over places, and --hosts is for at, barrier, "),
                                        (["at", "tnt"], "a,b", "bench: 'tnt-fft' is not over places, and"),
                                        (["global-sort"], "a,b", "bench: 'global-sort' is not over places that may be on several hosts, and"),
                                        (["at"], "a,b,c", f"bench: 'at' is measured with 2 places, {fit}"),
                                        (["barrier", "at"], "a:2,b", f"bench: 'at' is measured with 2 places, {fit}"),
                                        (["barrier"], "a:3", f"bench: 'barrier' is measured with 2 or 4 places, {fit}"),
                                        (["barrier", "--places", "5"], "a:3,b:3", f"bench: 'barrier' is measured with 5 places, {fit}"),
                                        ([], "a:3", "bench: no benchmark is measured with a number of places that fits the hosts")):
            done = bench(*names, f"--hosts={hosts}")
            self.assertEqual((done.returncode, done.stdout), (2, ""), (names, hosts))
            self.assertIn(complaint, done.stderr)

    def test_hosts_without_an_mpi(self):
        done = bench("at", "--hosts", "a,b", env={**os.environ, "PATH": "/nowhere"})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"tulle: places on several hosts need an MPI, and none can be used:\n.*Open MPI.*openmpi-bin.*\n.*MPICH.*Debian: mpich")


@unittest.skipUnless(os.path.exists(os.path.join(BUILT, "bench-tulle")), "built without benchmarks")
class Built(unittest.TestCase):
    def test_json_lines_keep_the_contract(self):
        done = bench("fib", "switch", "create-one", "--quick", "--no-peers", "--json")  # a peer may take too long on a busy machine
        self.assertEqual(done.returncode, 0, done)
        rows = figures(done)
        self.assertEqual({row["bench"] for row in rows if row["library"] == "tulle"}, {"fib", "switch", "create-one"})
        for row in rows:
            self.assertEqual(set(row), set(FIELDS), row)
            for field, kind in FIELDS.items():
                self.assertIsInstance(row[field], kind, row)
            self.assertTrue(row["ok"], row)
            self.assertLessEqual(row["min"], row["value"])
            self.assertLessEqual(row["value"], row["max"])

    def test_counts_of_this_machine_s_architecture(self):
        script = os.path.join(BUILT, "switch-counts")
        listed = subprocess.run([script, "--list"], capture_output=True, text=True, check=True).stdout.split()
        if "x86_64" not in listed:
            self.skipTest("no compiler or no emulator")
        done = bench("switch", "--quick", "--no-peers", "--json", "--emulated", "x86_64")
        self.assertEqual(done.returncode, 0, done)
        rows = {(row["library"], row["unit"]): row for row in figures(done)}
        self.assertEqual(rows["tulle", "kernel traps/switch"]["value"], 0)
        self.assertEqual(rows["tulle_ucontext", "kernel traps/switch"]["value"], 1)
        self.assertGreater(rows["tulle", "instructions/switch"]["limit"], rows["tulle", "instructions/switch"]["value"])

    def test_the_size_is_that_of_the_figures(self):
        done = bench("fib", "--quick", "--no-peers", "--json", "--n", "12", "--workers", "1")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual({row["n"] for row in figures(done)}, {12})

    def test_the_places_are_those_of_the_figures(self):
        done = bench("barrier", "--quick", "--no-peers", "--json", "--n", "20", "--places", "3")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual({(row["places"], row["ok"]) for row in figures(done)}, {(3, True)})

    def test_the_least_size_works_or_is_refused(self):
        """Nothing is divided by zero, and what comes out is right."""
        program = os.path.join(BUILT, "bench-tulle")
        listed = [line.split() for line in subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()]
        self.assertIn(["fib", "tulle"], listed)
        for workload, library in listed:
            if library != "tulle" or workload in OVER_PLACES:
                continue
            words = [program, workload, library, "--runs", "1", "--n", "1"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60)
            if done.returncode == 2:
                self.assertRegex(done.stderr, r"--n is at least \d+\n")
                words[-1] = re.search(r"--n is at least (\d+)", done.stderr)[1]
                done = subprocess.run(words, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, (workload, done))
            for row in figures(done):
                self.assertTrue(row["ok"], row)
                for field in ("value", "min", "max"):
                    self.assertTrue(math.isfinite(row[field]), row)

    def test_a_program_refuses_what_it_does_not_know(self):
        fib = ["fib", "tulle"]
        for words in ([*fib, "--blah"], [*fib, "--runs", "0"], [*fib, "--n"], [*fib, "--workers", "two"], [], ["fib"], ["--list", "fib"], ["fib", "tbb"],
                      ["blah", "tulle"]):
            done = subprocess.run([os.path.join(BUILT, "bench-tulle"), *words], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("usage:", done.stderr)


if __name__ == "__main__":
    unittest.main()
