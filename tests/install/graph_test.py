# SPDX-License-Identifier: Apache-2.0
"""graph_test.py PROJECT: what is installed is made by a plain build, and each target waits for those whose files it takes, whatever generates the
build: someone who says `cmake -B build && cmake --build build && cmake --install build` gets Makefiles and the target `all`."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROJECT = pathlib.Path(sys.argv.pop(1)).resolve()
OBJECT = re.compile(r"CMakeFiles/([\w.+-]+)\.dir/\S+\.o$")


def configured(folder, generator):
    options = [f"-DTULLE_BUILD_{part}=OFF" for part in ("TESTS", "BENCH", "EXAMPLES")]
    subprocess.run(["cmake", "-G", generator, "-S", PROJECT, "-B", folder, *options], check=True, capture_output=True, text=True)
    return folder


def installed_files(build):
    """What the scripts of `cmake --install` copy out of the build, each as the build names it."""
    found = set()
    for script in build.rglob("cmake_install.cmake"):
        for files in re.findall(r"^ *file\(INSTALL DESTINATION .* FILES(?: FILES)?((?:\s+\"[^\"]+\")+)", script.read_text(encoding="utf-8"), re.M):
            found |= set(re.findall(rf'"{re.escape(str(build))}/([^"]+)"', files))
    return found


class Graph(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name).resolve() / "build"

    def test_what_is_installed_is_part_of_all(self):
        build = configured(self.build, "Ninja")
        graph = subprocess.run(["ninja", "-C", build, "-t", "graph", "all"], check=True, capture_output=True, text=True).stdout
        made = set(re.findall(r'label="([^"]+)"', graph))
        wanted = installed_files(build)
        self.assertIn("lib/libtulle.a", wanted)
        made |= {re.sub(r"(\.so\.\d+)[.\d]*$", r"\1", name) for name in made} # the link to it
        self.assertEqual({name for name in wanted - made if not (build / name).exists()}, set())

    def test_targets_of_makefiles_wait_for_whose_objects_they_take(self):
        build = configured(self.build, "Unix Makefiles")
        order = set(re.findall(r"^CMakeFiles/(\S+)\.dir/all: CMakeFiles/(\S+)\.dir/all$", (build / "CMakeFiles/Makefile2").read_text(encoding="utf-8"), re.M))
        self.assertGreater(len(order), 5)
        taken = set()
        for makefile in (build / "CMakeFiles").glob("*.dir/build.make"):
            target = makefile.parent.name.removesuffix(".dir")
            for line in makefile.read_text(encoding="utf-8").splitlines():
                found = OBJECT.search(line) if ": " in line else None
                if found and found[1] != target:
                    taken.add((target, found[1]))
        self.assertIn(("tulle_shared", "tulle_objects"), taken)
        self.assertEqual(taken - order, set())


if __name__ == "__main__":
    unittest.main()
