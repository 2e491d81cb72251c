# SPDX-License-Identifier: Apache-2.0
import os

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator


class Tulle(CMakePackage):
    """Lightweight threads at the price of a task: threads by the million, each free to block."""

    license("Apache-2.0")
    version("0.1.0")  # of the folder of the sources: spack dev-build

    variant("tools", default=True, description="Build the program `tulle`")
    variant("mpi", default=False, description="Build the plug-in for places on several hosts")

    generator("ninja")
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("m4", type="run")  # programs with PARMACS macros
    depends_on("cli11", when="+tools", type="build")
    depends_on("nlohmann-json", when="+tools", type="build")
    depends_on("mpi", when="+mpi")

    conflicts("%gcc@:11", msg="C++20 as gcc 12 has it")
    conflicts("%clang@:13", msg="C++20 as clang 14 has it")
    conflicts("platform=darwin", msg="Linux only")
    conflicts("platform=windows", msg="Linux only")

    def cmake_args(self):
        arguments = [self.define(f"TULLE_BUILD_{part}", False) for part in ("TESTS", "BENCH", "EXAMPLES")]
        arguments += [
            self.define_from_variant("TULLE_BUILD_TOOLS", "tools"),
            self.define_from_variant("TULLE_BUILD_MPI", "mpi"),
            self.define("TULLE_USE_CCACHE", False),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
        ]
        if self.spec.satisfies("+mpi"):
            arguments.append(self.define("TULLE_MPICC", self.spec["mpi"].mpicc))
        return arguments

    @run_after("install")
    def keep_test_program(self):
        cache_extra_test_sources(self, ["packaging/conan/test_package"])

    def test_fib(self):
        """a program builds against what is installed, and runs"""
        sources = join_path(self.test_suite.current_test_cache_dir, "packaging/conan/test_package")
        with working_dir(sources):
            compiler = which(os.environ["CXX"])
            compiler("-std=c++20", "fib.cpp", "-o", "fib", f"-I{self.prefix.include}", f"-L{self.prefix.lib}", "-ltulle", f"-Wl,-rpath,{self.prefix.lib}")
            which("./fib")()
