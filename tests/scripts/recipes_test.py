# SPDX-License-Identifier: Apache-2.0
"""The recipes in packaging/: their version is that of the header, and each option and file that they name is there. scripts/recipes builds by them."""
import importlib.util
import json
import pathlib
import re
import subprocess
import tempfile
import types
import unittest
import unittest.mock

import planted

PACKAGING = planted.PROJECT / "packaging"


def known_options():
    texts = [planted.PROJECT / "CMakeLists.txt", planted.PROJECT / "compiler/CMakeLists.txt", *planted.PROJECT.glob("cmake/*.cmake")]
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

    def corrected(self, file):
        """What becomes of a port whose package has that *.pc where vcpkg corrects them."""
        with tempfile.TemporaryDirectory() as folder:
            port = pathlib.Path(folder, "port")
            port.mkdir()
            (port / "vcpkg.json").write_text('{"name": "planted"}', encoding="utf-8")
            (port / "portfile.cmake").write_text(
                f'file(WRITE ${{CURRENT_PACKAGES_DIR}}/{file} "prefix=\\${{pcfiledir}}/../..\nName: planted\nDescription: planted\nVersion: 1\n")\n'
                'vcpkg_fixup_pkgconfig()\nmessage(FATAL_ERROR "is corrected")\n', encoding="utf-8")
            return subprocess.run(["cmake", f"-DWORK={folder}/work", f"-DBUILD={folder}/build", f"-DPORT_FOLDER={port}", "-P",
                                   planted.PROJECT / "tests/install/recipes/vcpkg.cmake"], capture_output=True, text=True, check=False).stderr

    def test_pkg_config_must_find_each_file(self):
        self.assertIn("is corrected", self.corrected("lib/pkgconfig/planted.pc"))
        said = self.corrected("lib/tulle/qthread/lib/pkgconfig/planted.pc")
        self.assertNotIn("is corrected", said)
        self.assertIn("Package planted was not found", said)


class Spack(unittest.TestCase):
    def options(self, **variants):
        module = spack()
        made, recorded = module.load()
        package = made(module.Spec(module.variants_of(recorded, **variants), mpicc="/mpi/mpicc", llvm="/llvm"), "/prefix")
        return dict(argument[2:].split("=") for argument in package.cmake_args())

    def test_version(self):
        _, recorded = spack().load()
        self.assertEqual([arguments for arguments, _ in recorded["version"]], [(version(),)])

    def test_options(self):
        options = self.options(mpi=True)
        self.assertEqual({name.split(":")[0] for name in options if name.startswith("TULLE")} - known_options(), set())
        self.assertEqual(options["TULLE_MPICC:STRING"], "/mpi/mpicc")
        self.assertEqual(options["TULLE_BUILD_MPI:BOOL"], "ON")

    def test_llvm_of_the_host_does_not_matter(self):
        self.assertEqual(self.options()["TULLE_LLVM_VERSIONS:STRING"], "")
        options = self.options(llvm=True)
        self.assertEqual((options["TULLE_LLVM_VERSIONS:STRING"], options["llvm_config_14:STRING"]), ("14", "/llvm/bin/llvm-config"))
        self.assertIn("find_program(llvm_config_${version} ", (planted.PROJECT / "compiler/CMakeLists.txt").read_text(encoding="utf-8"))

    def test_without_variants(self):
        options = self.options(tools=False, mpi=False)
        self.assertEqual((options["TULLE_BUILD_TOOLS:BOOL"], options["TULLE_BUILD_MPI:BOOL"]), ("OFF", "OFF"))
        self.assertNotIn("TULLE_MPICC:STRING", options)

    def changed(self, old, new):
        """Loads the recipe, in whose text the first place of `old` has become `new`."""
        module = spack()
        with tempfile.TemporaryDirectory() as folder:
            recipe = pathlib.Path(folder, "package.py")
            text = module.RECIPE.read_text(encoding="utf-8")
            self.assertIn(old, text)
            recipe.write_text(text.replace(old, new, 1), encoding="utf-8")
            return module, *module.load(recipe)

    def test_imports_what_it_names(self):
        self.changed("import CMakePackage, generator", "import generator, CMakePackage")
        for imported, other in (("CMakePackage", "generator"), ("generator", "CMakePackage")):
            self.assertRaisesRegex(NameError, other, self.changed, "import CMakePackage, generator", f"import {imported}")

    def test_compiler_of_tests(self):
        for old, new, expected in (('Executable(self["cxx"].cxx)', 'which(__import__("os").environ["CXX"])', KeyError),
                                   ("test_requires_compiler = True", "", AssertionError)):
            module, made, recorded = self.changed(old, new)
            package = made(module.Spec(module.variants_of(recorded)), "/prefix")
            with tempfile.TemporaryDirectory() as kept, unittest.mock.patch.dict("os.environ"):
                package.test_suite = types.SimpleNamespace(current_test_cache_dir=kept)
                package.keep_test_program()
                self.assertRaises(expected, module.run_test, package)

    def test_needs_the_cmake_that_the_project_needs(self):
        _, recorded = spack().load()
        needed = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", (planted.PROJECT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        self.assertIn(f"cmake@{needed}:", [arguments[0] for arguments, _ in recorded["depends_on"]])


planted.main()
