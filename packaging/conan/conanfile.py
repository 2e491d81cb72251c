# SPDX-License-Identifier: Apache-2.0
"""Tulle for Conan 2: `conan create packaging/conan -s compiler.cppstd=20` in the folder of the sources. It has the library and the faces, without the program `tulle`."""
import pathlib
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Tulle(ConanFile):
    name = "tulle"
    license = "Apache-2.0"
    description = "Lightweight threads at the price of a task"
    topics = ("threads", "parallel", "tasks", "scheduler")
    package_type = "shared-library"  # and static ones beside them
    settings = "os", "arch", "compiler", "build_type"

    def set_version(self):
        text = load(self, str(ROOT / "include/tulle/c/version.h"))
        self.version = ".".join(re.search(rf"TULLE_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "docs/man/*", "tools/gdb/*", "tools/completions/*"):
            copy(self, pattern, ROOT, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "BENCH", "EXAMPLES", "TOOLS"):
            toolchain.variables[f"TULLE_BUILD_{part}"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="product")

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The CMake package that is installed says more than Conan would: programs find that.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/tulle"]
        self.cpp_info.libs = ["tulle"]
        self.cpp_info.sharedlinkflags = self.cpp_info.exelinkflags = ["-Wl,-z,now"]
        self.cpp_info.system_libs = ["pthread"]
