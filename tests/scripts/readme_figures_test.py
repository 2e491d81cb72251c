# SPDX-License-Identifier: Apache-2.0
"""scripts/readme-figures: which figures come beside which, and that the plot is one."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import planted

SVG = "{http://www.w3.org/2000/svg}"


def figure(library, value, **other):
    return {"bench": "fib", "library": library, "workers": 1, "n": 35, "value": value, "unit": "ns/spawn", "ok": True} | other


class ReadmeFigures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "page.md"
        self.page.write_text("before\n<!-- figures:begin -->\nold\n<!-- figures:end -->\nafter\n", encoding="utf-8")

    def run_script(self, *figures):
        file = self.folder / "figures.json"
        file.write_text("a line of no figure\n" + "".join(json.dumps(each) + "\n" for each in figures), encoding="utf-8")
        command = [sys.executable, "-B", planted.PROJECT / "scripts/readme-figures", file, "--table", self.page, "--plot", self.folder / "plot.svg"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_compares_with_the_best_peer_of_the_same_size(self):
        result = self.run_script(figure("tulle", 2), figure("tbb", 9), figure("rayon", 8), figure("omp", 1, n=10), figure("go", 1, workers=2),
                                 figure("serial", 0.5), figure("tulle_c", 4))
        self.assertEqual(result.returncode, 0, result.stderr)
        text = self.page.read_text(encoding="utf-8")
        self.assertIn("| fork and join, over a plain call, 1 worker (`fib`) | 2 ns | 8 (rayon) | 0.25 |", text)
        self.assertIn("through the C functions, 1 worker (`fib`) | 4 ns | 8 (rayon) | 0.5 |", text)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n") and "old" not in text)

    def test_plots_a_bar_for_each_row(self):
        self.run_script(figure("tulle", 2), figure("rayon", 8), figure("tulle", 6, bench="wake", unit="us", workers=2),
                        figure("pthread", 3, bench="wake", unit="us", workers=2))
        plot = xml.etree.ElementTree.parse(self.folder / "plot.svg").getroot()
        bars = {bar.get("class"): float(bar.get("width")) for bar in plot.iter(f"{SVG}rect")}
        line = next(plot.iter(f"{SVG}line"))
        best = float(line.get("x1")) - float(next(plot.iter(f"{SVG}rect")).get("x"))
        self.assertEqual(bars, {"bar": best / 4, "slow": best * 2})

    def test_refuses_wrong_results(self):
        result = self.run_script(figure("tulle", 2), figure("tbb", 9, ok=False))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("wrong results: fib tbb", result.stderr)
        self.assertIn("old", self.page.read_text(encoding="utf-8"))

    def test_tells_of_a_quick_run(self):
        self.assertEqual(self.run_script(figure("tulle", 2)).stderr, "")
        self.assertIn("--quick has smaller ones", self.run_script(figure("tulle", 2, n=27)).stderr)

    def test_passes_over_benchmarks_that_are_not_shown(self):
        result = self.run_script(figure("tulle", 2), figure("tulle", None, bench="global-lock", unit="", ok=False))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_lists_what_is_shown(self):
        command = [sys.executable, "-B", planted.PROJECT / "scripts/readme-figures", "--list"]
        names = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        self.assertIn("mutex-contended", names)
        self.assertEqual(len(names), len(set(names)))


planted.main()
