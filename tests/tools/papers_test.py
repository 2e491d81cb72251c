# SPDX-License-Identifier: Apache-2.0
"""The papers of `tulle bench NAME --html`: bench/papers/*.json has each of their figures and tables, asks for benchmarks that exist only, and the
page shows all of its numbers, beside those of this machine. Argument: the path of the program."""
import glob
import itertools
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
import bench_page  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
# How many figures and tables each has.
EXHIBITS = {"paper": (15, 3), "qthreads": (4, 0), "octopos": (4, 2), "tnt": (6, 0), "dszoom": (6, 4), "coherence": (0, 0)}
# Programs that are made from another source, or from sources of the user, or that are for other architectures only.
KINDS = ("checked_none", "checked_int_loads", "checked_fp_loads", "checked_loads", "checked_stores", "checked_all", "checked_directory")
ELSEWHERE = {(bench, kind) for bench in ("checks", "splash-checks") for kind in KINDS} | {
    ("splash", library) for library in ("pthread", "tulle", "tulle_private", "tulle_refreshed", "tulle_directory", "tulle_hosts", "tulle_hosts_plain")}


def read_papers():
    papers = {}
    for path in glob.glob(os.path.join(ROOT, "bench", "papers", "*.json")):
        with open(path, encoding="utf-8") as file:
            paper = json.load(file)
        assert os.path.basename(path) == paper["name"] + ".json"
        papers[paper["name"]] = paper
    return papers


PAPERS = read_papers()


def queries(data, inherited=()):
    """Each set of members by which something that was measured is asked for."""
    if isinstance(data, list):
        for one in data:
            yield from queries(one, inherited)
    elif isinstance(data, dict):
        own = {**dict(inherited), **data.get("of_all", {}), **{k: v for k, v in data.items() if isinstance(v, (str, int)) and k != "name"}}
        if "bench" in own and ("library" in own) and not {"points", "ratio", "percent_over"} & set(data):
            yield own
        for name, one in data.items():
            if name in ("points", "ratio", "percent_over", "here"):
                yield from queries(one, tuple({k: own[k] for k in own if k in ("bench", "library", "workers")}.items()))


def asked_of(paper):
    for exhibit in paper["exhibits"]:
        for part in ("here", "says"):
            yield from queries(exhibit.get(part, []))


class Data(unittest.TestCase):
    def test_each_figure_and_table_is_there_once(self):
        self.assertEqual(set(PAPERS), set(EXHIBITS))
        for name, (figures, tables) in EXHIBITS.items():
            expected = [f"figure {k + 1}" for k in range(figures)] + [f"table {k + 1}" for k in range(tables)]
            self.assertEqual(sorted(e["name"] for e in PAPERS[name]["exhibits"] if e["name"].startswith(("figure ", "table "))), sorted(expected), name)

    def test_each_says_what_it_is(self):
        for paper in PAPERS.values():
            for exhibit in paper["exhibits"]:
                self.assertTrue(exhibit["title"])
                self.assertTrue({"paper", "here", "says", "about"} & set(exhibit), exhibit["name"])

    def test_benchmarks_that_are_asked_for_exist(self):
        found = 0
        for paper in PAPERS.values():
            for query in asked_of(paper):
                bench, library = query["bench"], query["library"]
                self.assertIn(bench, paper["benchmarks"], (paper["name"], query))
                self.assertTrue((bench, library) in ELSEWHERE or os.path.exists(os.path.join(ROOT, "bench", bench, library + ".cpp")), query)
                found += 1
        self.assertGreater(found, 150)

    def test_commands_for_the_sizes_of_a_paper_name_benchmarks(self):
        for paper in PAPERS.values():
            for exhibit in paper["exhibits"]:
                words = exhibit.get("run", "").split()
                if words:
                    self.assertEqual(words[:2], ["tulle", "bench"])
                    names = list(itertools.takewhile(lambda word: not word.startswith("-"), words[2:]))
                    self.assertTrue(names and set(names) <= {paper["name"], *paper["benchmarks"]}, words)
                    self.assertTrue(paper["name"] in names or f"--paper {paper['name']}" in exhibit["run"], words)

    def test_benchmarks_of_a_paper_are_asked_for(self):
        """But for those that show how numbers come about."""
        for paper in PAPERS.values():
            unasked = set(paper["benchmarks"]) - {query["bench"] for query in asked_of(paper)}
            self.assertLessEqual(unasked, {"local-start", "paper-create"}, paper["name"])


def line(bench, library, value, unit, **more):
    return json.dumps({"bench": bench, "library": library, "workers": 1, "places": 1, "n": 1, "value": value, "min": value, "max": value, "unit": unit,
                       "runs": 1, "ok": True, **more})


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def program(self, library, lines_of):
        """lines_of: {benchmark: lines}"""
        text = "#!/bin/sh\nif [ $1 = --list ]; then\n" + "".join(f"echo {bench} {library}\n" for bench in lines_of) + "exit\nfi\n"
        for bench, lines in lines_of.items():
            text += f"if [ $1 = {bench} ]; then cat <<'END'\n" + "\n".join(lines) + "\nEND\nfi\n"
        path = os.path.join(self.folder, "bench-" + library)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, stat.S_IRWXU)

    def page(self, *words):
        path = os.path.join(self.folder, "page.html")
        done = subprocess.run([PROGRAM, "bench", "--dir", self.folder, "--quick", "--html", path, *words], capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, 0, done)
        return bench_page.Page(path)

    def drawn(self, *words):
        if not bench_page.NODE:
            self.skipTest("there is no Node.js")
        return bench_page.Drawn(self.page(*words))

    def fake_one(self, name):
        """Something to measure: a page needs that."""
        self.program("pthread", {PAPERS[name]["benchmarks"][0]: [line(PAPERS[name]["benchmarks"][0], "pthread", 1, "ns")]})

    def test_each_number_of_a_paper_is_on_its_page(self):
        for name, paper in PAPERS.items():
            self.fake_one(name)
            drawn = self.drawn(name)
            headings = drawn.texts("h3")
            rows = drawn.rows()
            cells = {cell for row in rows for cell in row}
            self.assertIn(paper["title"], drawn.texts("h2"))
            for exhibit in paper["exhibits"]:
                self.assertIn(f"{exhibit['name']}: {exhibit['title']}", headings)
                for series in exhibit.get("paper", []):
                    for at, value in series["points"]:
                        text = str(value) if not isinstance(value, float) or value != int(value) else str(int(value))
                        self.assertTrue(any(row[0] == str(at) and text in row for row in rows), (name, exhibit["name"], series["name"], at, value))
                for claim in exhibit.get("says", []):
                    self.assertLessEqual({claim[what] for what in ("text", "paper", "source") if what in claim}, cells, (name, exhibit["name"]))

    def test_numbers_of_this_machine_stand_beside_them(self):
        for library, cycles in (("tulle", 150), ("tulle_c", 100)):
            units = [f"cycles, {what}, {which}" for what in ("async", "at async", "async goes on", "at async goes on") for which in ("least", "median")]
            lines = [line("one-way", library, cycles + k, unit, places=2) for k, unit in enumerate(units)]
            self.program(library, {"one-way": [*lines, line("one-way", library, 1.06, "times C, async", places=2)]})
        drawn = self.drawn("one-way", "octopos")
        rows = {row[0]: row[1:] for row in drawn.rows()}
        self.assertEqual(rows["async"], ["539", "1469", "100", "150"])
        self.assertEqual(rows["at async"], ["1133", "1981", "102", "152"])
        self.assertEqual(rows["X10 over C, async (from the table; the text says about 3)"], ["2.73", "1.06 x"])
        self.assertEqual(rows["until the original activity goes on after at async, in X10"], ["994", "156 cycles"])
        self.assertIn("Not measured in this run.", drawn.texts("p"))  # table 2

    def test_series_over_workers_places_and_axes(self):
        self.program("tulle", {"shepherds": [line("shepherds", "tulle", 8 * workers, "s: (a) increments", workers=workers) for workers in (1, 2, 4)],
                               "sort-sizes": [line("sort-sizes", "tulle", at / workers, f"s for {at}", workers=workers, curve="", axis="doubles", at=at)
                                              for at in (100, 1000) for workers in (1, 2)]})
        self.program("pthread", {"shepherds": [line("shepherds", "pthread", 80 / workers, "s: (a) increments", workers=workers) for workers in (1, 4)]})
        drawn = self.drawn("qthreads", "--workers", "1")
        rows = drawn.rows()
        self.assertIn(["(a) increments", "20.0", "8.00", "16.0", "32.0"], rows)  # figure 1: pthreads with the most workers; 1, 2, 4 shepherds
        self.assertIn(["(a) qthreads before pthreads, which need a mutex", "yes", "2.50 x the time of 1 shepherd"], rows)
        self.assertIn(["(a) more shepherds are slightly slower", "yes", "4.00 x, 4 shepherds over 1"], rows)
        self.assertTrue({("1", "1000"), ("2", "500")} <= {tuple(row[:2]) for row in rows})  # figure 3: the largest size

    def test_speed_ups(self):
        self.program("tulle", {"paper-fib": [line("paper-fib", "tulle", time, "s", workers=workers) for workers, time in ((1, 8), (2, 4), (4, 5))]})
        self.program("tulle_tnt", {"tnt-fft": [line("tnt-fft", "tulle_tnt", at / workers, f"us, {at} samples", workers=workers, curve="", axis="samples",
                                                    at=at) for workers in (1, 2) for at in (1024, 4096)]})
        rows = self.drawn("paper", "tnt", "--workers", "1").rows()
        self.assertIn(["assembly on x86 is fastest with so many workers", "12", "2.00 workers"], rows)
        self.assertTrue({("1", "1.00"), ("2", "2.00"), ("4", "1.60")} <= {tuple(row[:2]) for row in rows})  # figure 9
        self.assertTrue({("1024", "2.00"), ("4096", "2.00")} <= {tuple(row[:2]) for row in rows})  # figure 2 of TNT

    def test_relative_to_sequential_calls(self):
        def fib(library, times, n=35):
            return {"fib": [line("fib", library, time, "s", workers=workers, n=n) for workers, time in times]}

        self.program("tulle", fib("tulle", ((1, 2), (2, 1))))
        self.program("serial", fib("serial", ((1, 4), (2, 4))))
        self.program("omp", fib("omp", ((1, 8), (2, 5))))
        self.program("pthread", fib("pthread", ((1, 1), (2, 1)), n=16))  # of another size: it is left out
        drawn = self.drawn("fib", "--paper", "paper", "--workers", "1")
        self.assertIn(["1", "2.00", "", "0.5", "", ""], drawn.rows())
        self.assertIn(["2", "4.00", "", "0.8", "", ""], drawn.rows())

    def test_a_column_of_another_unit_has_no_bars(self):
        self.fake_one("dszoom")
        drawn = self.drawn("dszoom")
        self.assertIn("fft, all", drawn.texts("text"))
        self.assertNotIn("fft, overhead", drawn.texts("text"))
        self.assertTrue(any(row[0] == "fft" and "1.92" in row for row in drawn.rows()))

    def test_marks_of_an_axis_cover_none_of_the_others(self):
        self.program("tulle", {"shepherds": [line("shepherds", "tulle", 10.0 ** -k, f"s: {what}", workers=1)
                                             for k, what in enumerate(("(a) increments", "(b) one address locked", "(c) many addresses locked",
                                                                       "(d) spin locks", "(e) threads in blocks"))]})
        for svg in self.drawn("qthreads", "--workers", "1").plots:
            rows = {}
            for text in (text for text in svg.iter("text") if text.get("class") == "tick" and text.get("text-anchor") == "middle"):
                rows.setdefault(text.get("y"), []).append((float(text.get("x")), 6.5 * len(text.text) / 2))
            for marks in rows.values():
                for (left, half), (right, other) in itertools.pairwise(sorted(marks)):
                    self.assertLessEqual(left + half, right - other, marks)

    def test_other_pages_have_no_papers(self):
        self.program("tulle", {"mutex": [line("mutex", "tulle", 5, "ns")]})
        self.assertEqual(self.page("mutex").about["papers"], [])

    def test_a_paper_may_be_named_beside_single_benchmarks(self):
        self.program("tulle", {"hpccg": [line("hpccg", "tulle_loops", 3, "s", workers=workers) for workers in (1, 2)]})
        rows = self.drawn("hpccg", "--paper", "qthreads", "--workers", "1").rows()
        self.assertIn(["1", "3.00"], [[row[0], row[1]] for row in rows])  # figure 4
        done = subprocess.run([PROGRAM, "bench", "--dir", self.folder, "hpccg", "--paper", "hpccg"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--paper", done.stderr)

    def test_pages_cut_no_text_off(self):
        for name in PAPERS:
            self.fake_one(name)
            for svg in self.drawn(name).plots:
                bench_page.expect_no_text_cut(self, svg)


if __name__ == "__main__":
    unittest.main()
