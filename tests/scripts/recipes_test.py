# SPDX-License-Identifier: Apache-2.0
"""The recipes in packaging/: their version is that of the header, and each option and file that they name is there. scripts/recipes builds by them."""
import importlib.util
import json
import re
import unittest

import planted

PACKAGING = planted.PROJECT / "packaging"


def known_options():
    texts = [planted.PROJECT / "CMakeLists.txt", *planted.PROJECT.glob("cmake/*.cmake")]
    return set(re.findall(r"^(?:option|set)\((TULLE_\w+)", "\n".join(file.read_text(encoding="utf-8") for file in texts), re.MULTILINE))


def spack():
    file = planted.PROJECT / "tests/install/recipes/spack.py"
    specification = importlib.util.spec_from_file_location("spack_of_tests", file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def version():
    text = (planted.PROJECT / "include/tulle/c/version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"TULLE_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


class Vcpkg(unittest.TestCase):
    def setUp(self):
        self.portfile = (PACKAGING / "vcpkg/portfile.cmake").read_text(encoding="utf-8")

    def test_version(self):
        manifest = json.loads((PACKAGING / "vcpkg/vcpkg.json").read_text(encoding="utf-8"))
        self.assertEqual((manifest["name"], manifest["version-semver"]), ("tulle", version()))

    def test_options(self):
        options = re.findall(r"-D(TULLE_\w+)", self.portfile)
        self.assertIn("TULLE_BUILD_TESTS", options)
        self.assertEqual(set(options) - known_options(), set())

    def test_usage_names_what_the_package_has(self):
        usage = (PACKAGING / "vcpkg/usage").read_text(encoding="utf-8")
        faces = re.search(r"^set\(faces (.*)\)$", (planted.PROJECT / "cmake/tulle_install.cmake").read_text(encoding="utf-8"), re.MULTILINE)[1].split()
        for face in faces:
            self.assertRegex(usage, rf"\b{face}\b")


class Spack(unittest.TestCase):
    def options(self, **variants):
        module = spack()
        made, recorded = module.load()
        package = made(module.Spec(module.variants_of(recorded, **variants), mpicc="/mpi/mpicc"), "/prefix")
        return dict(argument[2:].split("=") for argument in package.cmake_args())

    def test_version(self):
        _, recorded = spack().load()
        self.assertEqual([arguments for arguments, _ in recorded["version"]], [(version(),)])

    def test_options(self):
        options = self.options(mpi=True)
        self.assertEqual({name.split(":")[0] for name in options if name.startswith("TULLE")} - known_options(), set())
        self.assertEqual(options["TULLE_MPICC:STRING"], "/mpi/mpicc")
        self.assertEqual(options["TULLE_BUILD_MPI:BOOL"], "ON")

    def test_without_variants(self):
        options = self.options(tools=False, mpi=False)
        self.assertEqual((options["TULLE_BUILD_TOOLS:BOOL"], options["TULLE_BUILD_MPI:BOOL"]), ("OFF", "OFF"))
        self.assertNotIn("TULLE_MPICC:STRING", options)

    def test_needs_the_cmake_that_the_project_needs(self):
        _, recorded = spack().load()
        needed = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", (planted.PROJECT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        self.assertIn(f"cmake@{needed}:", [arguments[0] for arguments, _ in recorded["depends_on"]])


planted.main()
