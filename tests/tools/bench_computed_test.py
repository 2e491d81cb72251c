# SPDX-License-Identifier: Apache-2.0
"""What `tulle bench` makes of figures: rates, of which more is better; the overhead of checks over all programs; what coherent memory is to reach
beside what was measured; and the launcher of ArgoDSM, which is over Open MPI. Shell scripts stand in for benchmarks. Argument: the program."""
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import bench_page  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))


def line(bench, library, value, least, unit):
    return json.dumps({"bench": bench, "library": library, "workers": 1, "places": 1, "n": 1, "value": value, "min": least, "max": value, "unit": unit,
                       "runs": 1, "ok": True})


class Faked(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "page.html"

    def script(self, name, text):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(stat.S_IRWXU)

    def prints(self, bench, values):
        """values: {library: {unit: value, or value and the least}}"""
        for library, figures in values.items():
            lines = "\n".join(line(bench, library, *(value if isinstance(value, tuple) else (value, value)), unit) for unit, value in figures.items())
            self.script("bench-" + library, f"[ $1 = --list ] && echo {bench} {library} && exit\ncat <<'END'\n{lines}\nEND\n")

    def bench(self, *words, **variables):
        done = subprocess.run([PROGRAM, "bench", "--dir", self.folder, "--quick", "--html", self.page, *words], capture_output=True, text=True, timeout=60,
                              check=False, env={**os.environ, **variables})
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def rows(self, *words):
        return {(row["library"], row["unit"]): row for row in map(json.loads, self.bench(*words, "--json").splitlines())}

    def drawn(self):
        if not bench_page.NODE:
            self.skipTest("there is no Node.js")
        return bench_page.Drawn(bench_page.Page(self.page))

    def test_of_rates_more_is_better(self):
        self.prints("mutex", {"tulle": {"GB/s read": 6, "ns": 2}, "pthread": {"GB/s read": 2, "ns": 4}, "tbb": {"GB/s read": 3, "ns": 8}})
        text = self.bench("mutex")
        self.assertIn("Lower is better, but for rates (/s), of which more is.", text)
        read, other = text.split("GB/s read, 1 worker, higher is better")[1].split("ns, 1 worker ")
        self.assertEqual(re.findall(r"(?m)^ [* ]+(\w+) +[0-9].* (\S+)$", read), [("tulle", "2.00"), ("tbb", "1.00"), ("pthread", "0.667")])
        self.assertEqual(re.findall(r"(?m)^ [* ]+(\w+) +[0-9].* (\S+)$", other), [("tulle", "0.5"), ("pthread", "1.00"), ("tbb", "2.00")])
        drawn = self.drawn()
        self.assertEqual(sorted(drawn.texts("h3")), ["GB/s read, 1 worker; higher is better", "ns, 1 worker"])
        self.assertIn("of which more is", drawn.text)
        self.prints("mutex", {"tulle": {"ns": 2}, "pthread": {"ns": 4}, "tbb": {"ns/switch": 3}})
        self.assertNotIn("igher", self.bench("mutex"))
        self.assertNotIn("of which more is", self.drawn().text)

    CHECKS = {"checked_none": {"ms, a -O0": 10, "ms, b -O0": 10, "ms, a -O2": (9, 4), "ms, b -O2": 10, "bytes of code, a -O2": 100},
              "checked_all": {"ms, a -O0": 20, "ms, b -O0": 80, "ms, a -O2": (8, 5), "ms, b -O2": 20, "bytes of code, a -O2": 900},
              "checked_stores": {"ms, a -O2": 4.2, "ms, new -O2": 7}}

    def test_overhead_of_checks_over_all_programs(self):
        self.prints("checks", self.CHECKS)
        rows = self.rows("checks")
        found = {key: (row["value"], row["n"], row.get("limit")) for key, row in rows.items() if key[1].startswith("x, ")}
        self.assertEqual(set(found), {(f"checked_{kind}", f"x, {which} {level}") for which in ("geometric mean", "mean", "worst")
                                      for kind, level in (("all", "-O0"), ("all", "-O2"), ("stores", "-O2"))})
        for kind, unit, value, n, limit in (("all", "geometric mean -O0", 4, 2, None), ("all", "mean -O0", 5, 2, None), ("all", "worst -O0", 8, 2, None),
                                            ("all", "geometric mean -O2", 2.5 ** 0.5, 2, 1.1), ("all", "worst -O2", 2, 2, 1.15),
                                            ("stores", "geometric mean -O2", 1.05, 1, 1.05), ("stores", "worst -O2", 1.05, 1, None)):
            row = found[f"checked_{kind}", f"x, {unit}"]
            self.assertAlmostEqual(row[0], value)
            self.assertEqual(row[1:], (n, limit))
        self.assertRegex(self.bench("checks"), r"(?s)x, geometric mean -O2, 1 worker .*\* checked_all +1\.58 .* at most 1\.10\n")
        self.assertIn("The line across a row is the most that it may take.", self.drawn().texts("p"))

    def test_programs_as_short_as_a_test_have_no_limit(self):
        self.prints("checks", self.CHECKS)
        for path in self.folder.glob("bench-checked*"):
            path.write_text(path.read_text().replace('"n": 1,', '"n": 0,'))
        self.assertNotIn("at most", self.bench("checks"))

    def test_wrong_results_have_no_overhead(self):
        self.prints("checks", self.CHECKS)
        path = self.folder / "bench-checked_stores"
        path.write_text(path.read_text().replace('"ok": true', '"ok": false'))
        done = subprocess.run([PROGRAM, "bench", "--dir", self.folder, "--quick", "checks"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertNotRegex(done.stdout, r"x, .*\n.*checked_stores")

    def test_overhead_stands_beside_what_is_to_be_reached(self):
        self.prints("checks", self.CHECKS)
        self.bench("checks", "--paper", "coherence")
        rows = {row[0]: row[1:] for row in self.drawn().rows()}
        self.assertEqual(rows["overhead of all checks with optimization, the worst of them"], ["<= 15 %", "100 %"])
        self.assertEqual(rows["overhead of checks of stores with optimization, geometric mean"], ["<= 5 %", "5.00 %"])
        self.assertEqual(rows["DRust: throughput over GAM"], ["up to 2.64 x", "Ma and others, OSDI 24, abstract", "-"])

    def with_launcher(self):
        self.script("mpirun.openmpi", f'echo "$@" > {self.folder}/words\nshift 4\nexec "$@"\n')
        return {"PATH": f"{self.folder}:{os.environ['PATH']}"}

    def test_the_page_of_coherent_memory_has_its_reach_and_argodsm(self):
        self.prints("coherent", {"tulle": {"ns miss": 100, "ns copy": 80, "ns at": 900, "GB/s read": 3, "us barrier, 1 MiB at home": 12},
                                 "argodsm": {"ns miss": 40_000, "GB/s read": 0.5}})
        self.bench("coherent", **self.with_launcher())
        self.assertRegex((self.folder / "words").read_text(), r"^--allow-run-as-root --oversubscribe -n 2 \S+/bench-argodsm coherent argodsm --places 2 ")
        drawn = self.drawn()
        rows = {row[0]: row[1:] for row in drawn.rows()}
        self.assertEqual(rows["a miss on one host, processes with copies"], ["<= 150 ns", "100 ns"])
        self.assertEqual(rows["a miss over a copy of as many bytes in memory"], ["", "1.25 x"])
        self.assertEqual(rows["long runs read that another has written, one host"], [">= 2.7 GB/s", "3.00 GB/s"])
        self.assertEqual(rows["a miss between hosts over an empty call there, by Open MPI"], ["<= 1.3 x", "-"])  # measured on this host only
        self.assertEqual(rows["a barrier where each has written 1 MiB that it is the home of"], ["<= 15 us", "12.0 us"])
        self.assertEqual(rows["a miss that brings eight pages, its default, over ours"], ["400 x"])
        self.assertEqual(rows["our rate of long runs read over its"], ["6.00 x"])
        self.assertEqual(rows["a miss that brings one page over ours"], ["-"])
        self.assertIn("coherence", drawn.texts("a"))

    def test_pages_of_other_benchmarks_have_no_reach(self):
        self.prints("mutex", {"tulle": {"ns": 2}})
        self.bench("mutex")
        self.assertEqual(bench_page.Page(self.page).about["papers"], [])


if __name__ == "__main__":
    unittest.main()
