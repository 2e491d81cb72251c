# SPDX-License-Identifier: Apache-2.0
"""part_test.py PROJECT: a project that has the library as a part of itself gets the libraries, and nothing else: no test, nothing that is installed, no
target and no cached variable with a name that it might use itself. Its only language may be C."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv.pop(1)).resolve()
# What CMake's own modules keep, and what is the project's.
KNOWN_VARIABLE = re.compile(r"_?(CMAKE|TULLE|tulle|FETCHCONTENT|FIND_PACKAGE|FIND_LIBRARY|GNUInstallDirs|part_in_c|in_cxx)_|_GNUInstallDirs_")
KNOWN_TARGET = re.compile(r"(tulle_\w+|with-\w+|cmake_object_order_\S+)$")
OF_CMAKE = {"all", "clean", "help", "edit_cache", "rebuild_cache", "list_install_components", "install", "install/local", "install/strip", "test",
            "codegen", "package", "package_source"}


def said_by(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Part(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.build = pathlib.Path(folder.name).resolve() / "build"
        made = subprocess.run(["cmake", "-G", "Ninja", "-S", PROJECT / "tests/install/part_in_c", "-B", cls.build, f"-DTULLE_SOURCES={PROJECT}",
                               "-DCMAKE_BUILD_TYPE=Release"], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise AssertionError(f"it cannot be configured: {made.stderr}")

    def test_c_links_the_libraries(self):
        for program in ("with-tulle", "with-tulle_static", "with-qthread_static"):
            link = said_by("ninja", "-C", self.build, "-t", "commands", program).splitlines()[-1]
            with self.subTest(program=program):
                self.assertIn("libtulle", link)
                self.assertEqual("-lstdc++" in link, program.endswith("_static"), link)

    def test_parts_in_cxx_have_its_standard_or_their_own(self):
        for program, standard in (("with-cxx_none", "-std=gnu++20"), ("with-cxx_23", "-std=gnu++23")):
            compiles = [line for line in said_by("ninja", "-C", self.build, "-t", "commands", program).splitlines() if "in_cxx/main.cpp" in line]
            with self.subTest(program=program):
                self.assertEqual([re.findall(r"-std=\S+", line)[-1] for line in compiles], [standard])

    def test_installs_nothing(self):
        for script in self.build.rglob("cmake_install.cmake"):
            with self.subTest(script=script):
                self.assertNotIn("file(INSTALL", script.read_text(encoding="utf-8"))

    def test_brings_no_tests(self):
        self.assertIn("Total Tests: 0", said_by("ctest", "--test-dir", self.build, "-N"))

    def test_targets_have_names_of_its_own(self):
        listed = said_by("ninja", "-C", self.build, "-t", "targets", "all")
        found = {name for name in re.findall(r"^([^:\s]+): phony$", listed, re.MULTILINE) if "/" not in name and "." not in name}
        self.assertIn("tulle_shared", found)
        self.assertEqual({name for name in found - OF_CMAKE if not KNOWN_TARGET.match(name)}, set())

    def test_cached_variables_have_names_of_its_own(self):
        cache = (self.build / "CMakeCache.txt").read_text(encoding="utf-8")
        found = set(re.findall(r"^([A-Za-z_]\w*)(?:-ADVANCED)?:\w+=", cache, re.MULTILINE))
        self.assertIn("TULLE_INSTALL", found)
        self.assertEqual({name for name in found if not KNOWN_VARIABLE.match(name)}, set())


if __name__ == "__main__":
    unittest.main()
