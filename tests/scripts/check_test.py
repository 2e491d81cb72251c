# SPDX-License-Identifier: Apache-2.0
"""scripts/check: which tests it chooses for a changed file."""
import re
import subprocess
import unittest

import planted


class Check(unittest.TestCase):
    def check(self, *words):
        return subprocess.run([planted.PROJECT / "scripts/check", *words], capture_output=True, text=True, check=False)

    def chosen(self, name):
        done = self.check("--list", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def assert_chooses(self, name, *tests):
        patterns = self.chosen(name)
        for test in tests:
            self.assertTrue(any(re.fullmatch(pattern, test) for pattern in patterns), (name, test, patterns))

    def assert_leaves_out(self, name, test):
        patterns = self.chosen(name)
        self.assertFalse(any(re.fullmatch(pattern, test) for pattern in patterns), (name, test, patterns))

    def test_a_source_touches_the_tests_of_its_folder_and_of_those_who_include_its_header(self):
        self.assert_chooses("src/sync/mutex.cpp", "unit.sync", "model.mutex")
        self.assert_chooses("src/deque/split_deque.hpp", "model.deque")
        self.assert_leaves_out("src/sync/mutex.cpp", "unit.messenger")

    def test_a_public_header_touches_tests_that_name_it(self):
        self.assert_chooses("include/tulle/mutex.hpp", "unit.sync")
        self.assert_chooses("include/tulle/tulle.hpp", "unit.api")

    def test_other_places(self):
        self.assert_chooses("tests/unit/messenger/endpoint_test.cpp", "unit.messenger")
        self.assert_chooses("tests/model/deque_test.cpp", "model.deque")
        self.assert_chooses("src/compat/qthread/library/lifecycle.cpp", "compat.qthread.places", "compat.qthread.c.chapel")
        self.assert_leaves_out("src/compat/qthread/library/lifecycle.cpp", "compat.tnt.c.nodes")
        self.assert_chooses("tools/tulle/main.cpp", "tool.bench_test")
        self.assert_chooses("examples/fibonacci.cpp", "example.fibonacci.help")
        self.assert_chooses("tests/fault/sweep.py", "fault.places")

    def test_a_page_touches_no_program(self):
        self.assertEqual(self.chosen("docs/clusters.md"), [])

    def test_wrong_usage(self):
        done = self.check("--list", "src/nowhere.cpp")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("there is no file 'src/nowhere.cpp'", done.stderr)
        done = self.check("--list", "--since", "no-such-commit")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no commit 'no-such-commit'", done.stderr)


planted.main()
