# SPDX-License-Identifier: Apache-2.0
"""`tulle bench splash`: four small programs in the layout of SPLASH-2 and SPLASH-3 (tests/tools/splash) go the whole way: compiled by their makefiles,
run with POSIX threads, as processes and with copies, compared. A wrong result, and what does not compile or run, is told. Argument: the program."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
TWO_HOSTS = PROJECT / "scripts" / "two-hosts"
CANNOT_BE_MADE = 125
SUITE = pathlib.Path(__file__).resolve().parent / "splash"
HAS_PLUGIN = any((PROGRAM.parent.parent / "lib" / "tulle").glob("coherent-checks-*"))
OTHERS = 10  # of the fourteen programs
PICTURES = "apps/volrend/inputs/head-scaleddown2.den"


def is_sanitized():
    data = PROGRAM.read_bytes()
    return b"__asan_version_mismatch_check" in data or b"__tsan_func_entry" in data  # the library names their __init ones, too


def bench(*words, **variables):
    return subprocess.run([PROGRAM, "bench", *map(str, words)], capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **variables})


sys.path.insert(0, str(PROJECT / "tests" / "support"))
import mpi  # noqa: E402

MPIS = sorted(path.stem.rsplit("-", 1)[1] for path in (PROGRAM.parent.parent / "lib").glob("libtulle-mpi-*.so"))


class Usage(unittest.TestCase):
    def test_without_sources_it_says_what_it_needs(self):
        for name in ("splash", "splash-checks"):
            done = bench(name, "--quick")
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, f"bench: {name} needs --sources DIR, with the sources of SPLASH-2 or of SPLASH-3 .https://")

    def test_a_folder_without_sources(self):
        with tempfile.TemporaryDirectory() as empty:
            done = bench("splash", "--quick", "--sources", empty)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no sources of SPLASH", done.stderr)

    def test_programs_are_the_fourteen(self):
        done = bench("splash", "--sources", SUITE, "--programs", "cube")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--programs", done.stderr)


@unittest.skipIf(is_sanitized(), "what it compiles has no sanitizer, which the library would need")
@unittest.skipUnless(shutil.which("m4") and shutil.which("make"), "there is no m4, or no make")
class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sources = pathlib.Path(folder.name) / "somewhere" / "codes"  # a suite may lie deeper
        shutil.copytree(SUITE, self.sources)
        self.given = pathlib.Path(folder.name)

    def bench(self, name, *words, **variables):
        done = bench(name, "--sources", self.given, "--quick", "--json", *words, **variables)
        rows = {(row["library"], row["unit"], row["places"]): row for row in map(json.loads, done.stdout.splitlines())}
        return done, rows

    def libraries(self):
        return ("pthread", "tulle", "tulle_private", "tulle_refreshed", "tulle_directory") if HAS_PLUGIN else ("pthread", "tulle")

    def edit(self, file, before, after):
        path = self.sources / file
        text = path.read_text()
        self.assertIn(before, text)
        path.write_text(text.replace(before, after))

    def test_programs_of_both_dialects(self):
        (self.sources / "kernels/radix/keys.o").write_text("of another compilation")
        done, rows = self.bench("splash", "--places", "1,3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(rows), {(library, f"ms, {name}", places) for library in self.libraries() for name in ("barnes", "fft", "radix", "volrend") for places in (1, 3)})
        for row in rows.values():
            self.assertEqual((row["ok"], row["runs"], row["bench"]), (True, 3, "splash"), row)
            self.assertGreaterEqual(row["value"], row["min"])
        self.assertEqual(done.stderr.count("is left out: the sources have no "), OTHERS)
        self.assertEqual((self.sources / "kernels/radix/keys.o").read_text(), "of another compilation")

    @unittest.skipUnless(HAS_PLUGIN, "there is no plug-in of clang")
    def test_copies_have_units_that_suit_the_program(self):
        self.edit("kernels/radix/keys.c.in", 'printf("%s: %ld of',
                  'char const* unit = getenv("TULLE_COHERENT_UNIT");\n    if (unit) printf("FAILED: units of %s\\n", unit);\n    printf("%s: %ld of')
        for words, said, unit in (((), "2048 bytes, which suit it (--unit)", 2048), (("--unit", "512"), "512 bytes", 512)):
            done, rows = self.bench("splash", "--programs", "radix", *words)
            self.assertIn(f"splash: radix: copies in units of {said}\n", done.stderr)
            self.assertIn(f"radix: tulle_private with 2 places has a wrong result: it says: FAILED: units of {unit}", done.stderr)
            self.assertEqual({library for (library, _, _), row in rows.items() if not row["ok"]}, {"tulle_private", "tulle_refreshed"})
        done, rows = self.bench("splash", "--programs", "fft")  # which has the library's own
        self.assertNotIn("copies in units of", done.stderr)
        self.assertEqual(bench("splash", "--sources", SUITE, "--unit", "100").returncode, 2)

    @unittest.skipUnless(HAS_PLUGIN, "there is no plug-in of clang")
    def test_each_kind_of_checks(self):
        done, rows = self.bench("splash-checks", "--programs", "radix")
        self.assertEqual(done.returncode, 0, done.stderr)
        kinds = ("none", "int_loads", "fp_loads", "loads", "stores", "all", "directory")
        times = {(f"checked_{kind}", f"ms, radix {level}", 1) for kind in kinds for level in ("-O0", "-O2")}
        overheads = {(f"checked_{kind}", f"x, {mean} {level}", 1) for kind in kinds[1:] for level in ("-O0", "-O2") for mean in ("geometric mean", "mean", "worst")}
        self.assertEqual(set(rows), times | overheads)
        self.assertTrue(all(row["ok"] for row in rows.values()))

    @unittest.skipUnless(HAS_PLUGIN and MPIS, "there is no plug-in of clang, or no MPI")
    def test_on_two_hosts_with_both_locks(self):
        """Those that never stay with a host, in each process, beside those that may."""
        told = self.given / "thresholds"
        self.edit("kernels/radix/counting.c.in", "    LOCK(shared->lock)\n    int const number",
                  f'    FILE* const told = fopen("{told}", "a");\n    char const* const threshold = getenv("TULLE_LOCK_THRESHOLD");\n'
                  '    fprintf(told, "%s\\n", threshold != NULL ? threshold : "usual");\n    fclose(told);\n'
                  "    LOCK(shared->lock)\n    int const number")
        self.edit("kernels/radix/counting.c.in", '#include "keys.h"', '#include "keys.h"\n#include <stdio.h>')
        words = ["--sources", self.given, "--quick", "--json", "--programs", "radix", "--hosts", "a,b", "--mpi", MPIS[0]]
        done = subprocess.run([TWO_HOSTS, PROGRAM, "bench", "splash", *words], capture_output=True, text=True, timeout=300, check=False, env=mpi.environment())
        if done.returncode == CANNOT_BE_MADE:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({(row["library"], row["mpi"], row["places"], row["ok"]) for row in rows},
                         {(library, MPIS[0], 2, True) for library in ("pthread", "tulle_hosts", "tulle_hosts_plain")})
        self.assertEqual(sorted(told.read_text().split()), 2 * ["2147483647"] + 4 * ["usual"])

    @unittest.skipUnless(HAS_PLUGIN and MPIS, "there is no plug-in of clang, or no MPI")
    def test_pictures_of_two_hosts_with_two_places_each(self):
        """What stores them is a part with a makefile of its own, and must have checks."""
        words = ["--sources", self.given, "--quick", "--json", "--programs", "volrend", "--hosts", "a:2,b:2", "--places", "4"]
        for flavour in MPIS:
            done = subprocess.run([TWO_HOSTS, PROGRAM, "bench", "splash", *words, "--mpi", flavour], capture_output=True, text=True, timeout=300, check=False,
                                  env=mpi.environment())
            if done.returncode == CANNOT_BE_MADE:
                self.skipTest(done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual({(row["library"], row["places"], row["ok"]) for row in rows},
                             {(library, 4, True) for library in ("pthread", "tulle_hosts", "tulle_hosts_plain")})

    def test_what_a_program_does_not_print_is_compared(self):
        """From the second run on, a third of the bodies is a little aside; few may be."""
        self.edit("apps/barnes/bodies.c.in", "    MAIN_END", '    if (system("mkdir ../../../once 2> /dev/null") != 0)\n'
                  "        for (long n = 0; n < nbody; n += 3) Pos(bodytab + n)[0] += 0.01;\n    MAIN_END")
        done, rows = self.bench("splash", "--programs", "barnes")
        self.assertEqual(done.returncode, 1)
        self.assertEqual({library for library, _, _ in rows}, set(self.libraries()))
        self.assertIn("splash: barnes: tulle with 2 places has a wrong result: 86 of 256 lines are not quite as they should be", done.stderr)

    def test_a_wrong_picture_is_found(self):
        self.edit("apps/volrend/slices.c.in", "(unsigned char)(n * n >> (picture + 2))", "(unsigned char)(n < 2 ? __LINE__ + getpid() : 0)")
        self.edit("apps/volrend/slices.c.in", "#include <stdio.h>", "#include <stdio.h>\n#include <unistd.h>")
        done, rows = self.bench("splash", "--programs", "volrend")
        self.assertEqual(done.returncode, 1)
        for library in self.libraries():
            self.assertEqual(rows[library, "ms, volrend", 2]["ok"], library == "pthread" and rows[library, "ms, volrend", 2]["ok"])
        self.assertRegex(done.stderr, "volrend: tulle with 2 places has a wrong result: its picture head-scaleddown2_100[0-2] is another one")

    def test_what_is_said_of_a_picture_is_part_of_it(self):
        self.edit("apps/volrend/store/store.c", "entry.value = n + 5", "entry.value = n == 1 ? 10 * (unsigned)getpid() : 5")
        done, _ = self.bench("splash", "--programs", "volrend")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has a wrong result: its picture head-scaleddown2_1000 is another one", done.stderr)

    def test_pictures_of_an_earlier_run_are_no_result(self):
        self.edit("apps/volrend/slices.c.in", "if (number == 0) {", 'if (number == 0 && system("mkdir inputs/once 2> /dev/null") == 0) {')
        done, _ = self.bench("splash", "--programs", "volrend")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has a wrong result: it wrote no picture", done.stderr)

    def test_data_that_the_sources_do_not_have(self):
        large = self.sources / "apps/volrend/inputs/head.den"
        for is_a_pointer in (False, True):
            if is_a_pointer:
                large.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 8257562\n")
            done = bench("splash", "--sources", self.given, "--runs", 1, "--json", "--programs", "volrend")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("splash: volrend has the size of --quick: the sources have no apps/volrend/inputs/head.den", done.stderr)
            self.assertEqual({json.loads(line)["n"] for line in done.stdout.splitlines()}, {128})
        (self.sources / PICTURES).unlink()
        done, rows = self.bench("splash", "--programs", "radix,volrend")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"splash: volrend is left out: the sources have no {PICTURES}", done.stderr)
        self.assertEqual({unit for _, unit, _ in rows}, {"ms, radix"})

    def print_instead(self, first, later):
        """The first run of all prints two numbers, and others print two others."""
        self.edit("kernels/fft/sum.C", 'printf("Checksum %.9f\\n", shared->sum);',
                  'int const is_first = system("mkdir ../../../once 2> /dev/null") == 0; '
                  f'printf("TEST %s of two\\nTEST %s of two\\n", is_first ? "{first[0]}" : "{later[0]}", is_first ? "{first[1]}" : "{later[1]}");')
        self.edit("kernels/fft/sum.C", "#include <stdio.h>", "#include <stdio.h>\n#include <stdlib.h>")

    def test_lines_of_one_host_have_an_order(self):
        self.print_instead(("0", "1"), ("1", "0"))
        done, _ = self.bench("splash", "--programs", "fft")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('has a wrong result: "TEST 1 of two" instead of "TEST 0 of two"', done.stderr)

    @unittest.skipUnless(HAS_PLUGIN and MPIS, "there is no plug-in of clang, or no MPI")
    def test_lines_of_two_hosts_come_in_any_order(self):
        """The first line found is like both that are right, the other one like the first only."""
        self.print_instead(("1.00000", "1.00015"), ("1.00008", "0.99995"))
        words = ["--sources", self.given, "--quick", "--json", "--programs", "fft", "--hosts", "a,b", "--mpi", MPIS[0]]
        done = subprocess.run([TWO_HOSTS, PROGRAM, "bench", "splash", *words], capture_output=True, text=True, timeout=300, check=False, env=mpi.environment())
        if done.returncode == CANNOT_BE_MADE:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_wrong_result_is_found(self):
        """The variable is one for threads, and processes have copies of it."""
        self.edit("kernels/fft/sum.C", '"Checksum %.9f\\n", shared->sum', '"Checksum %.9f\\n", own_sum')
        done, rows = self.bench("splash", "--programs", "fft")
        self.assertEqual(done.returncode, 1)
        for library in self.libraries():
            self.assertEqual(rows[library, "ms, fft", 2]["ok"], library == "pthread")
        self.assertIn('splash: fft: tulle with 2 places has a wrong result: "Checksum ', done.stderr)

    def test_a_program_that_says_it_failed(self):
        self.edit("kernels/radix/counting.c.in", "n < shared->keys", "n < shared->keys - 1")
        done, rows = self.bench("splash", "--programs", "radix")
        self.assertEqual(done.returncode, 1)
        self.assertFalse(any(row["ok"] for row in rows.values()))
        self.assertIn("radix: pthread with 2 places has a wrong result: it says: FAILED", done.stderr)

    def test_a_program_that_does_not_compile(self):
        self.edit("kernels/fft/sum.C", "int main", "#error this one\nint main")
        done, rows = self.bench("splash", "--programs", "fft,radix")
        self.assertEqual(done.returncode, 1)
        self.assertEqual({unit for _, unit, _ in rows}, {"ms, radix"})
        self.assertRegex(done.stderr, "fft \\(tulle\\) was not compiled: .*error: this one")

    def test_a_program_that_dies(self):
        self.edit("kernels/radix/keys.c.in", "long sum = 0;", "long sum = 0;\n    abort();")
        done, rows = self.bench("splash", "--programs", "radix")
        self.assertEqual(done.returncode, 1)
        self.assertEqual({row["value"] for row in rows.values()}, {None})
        self.assertIn("radix: tulle with 2 places failed: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
