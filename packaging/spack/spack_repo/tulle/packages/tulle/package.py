# SPDX-License-Identifier: Apache-2.0
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Tulle(CMakePackage):
    """Lightweight threads at the price of a task: threads by the million, each free to block."""

    license("Apache-2.0")
    version("0.1.0")  # of the folder of the sources: spack dev-build

    variant("tools", default=True, description="Build the program `tulle`")
    variant("mpi", default=False, description="Build the plug-in for places on several hosts")
    variant("llvm", default=False, when="+tools", description="Build the plug-in of `tulle cc`")

    generator("ninja")
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("m4", type="run")  # programs with PARMACS macros
    depends_on("cli11", when="+tools", type="build")
    depends_on("nlohmann-json", when="+tools", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("llvm@14:19 +clang", when="+llvm", type=("build", "run"))

    conflicts("%gcc@:11", msg="C++20 as gcc 12 has it")
    conflicts("%clang@:13", msg="C++20 as clang 14 has it")
    conflicts("platform=darwin", msg="Linux only")
    conflicts("platform=windows", msg="Linux only")

    test_requires_compiler = True

    def cmake_args(self):
        arguments = [
            self.define("TULLE_BUILD_TESTS", False),
            self.define("TULLE_BUILD_BENCH", False),
            self.define("TULLE_BUILD_EXAMPLES", False),
            self.define_from_variant("TULLE_BUILD_TOOLS", "tools"),
            self.define_from_variant("TULLE_BUILD_MPI", "mpi"),
            self.define("TULLE_USE_CCACHE", False),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
        ]
        if self.spec.satisfies("+mpi"):
            arguments.append(self.define("TULLE_MPICC", self.spec["mpi"].mpicc))
        if self.spec.satisfies("+llvm"):
            version = self.spec["llvm"].version.up_to(1)
            program = join_path(self.spec["llvm"].prefix.bin, "llvm-config")
            arguments.append(self.define("TULLE_LLVM_VERSIONS", str(version)))
            arguments.append(self.define(f"llvm_config_{version}", program))
        else:
            arguments.append(self.define("TULLE_LLVM_VERSIONS", ""))  # whatever the host has
        return arguments

    @run_after("install")
    def keep_test_program(self):
        cache_extra_test_sources(self, ["packaging/conan/test_package"])

    def test_fib(self):
        """a program builds against what is installed, and runs"""
        kept = self.test_suite.current_test_cache_dir
        with working_dir(join_path(kept, "packaging/conan/test_package")):
            compiler = Executable(self["cxx"].cxx)  # CXX is not set there
            headers, libraries = f"-I{self.prefix.include}", f"-L{self.prefix.lib}"
            search = f"-Wl,-rpath,{self.prefix.lib}"
            compiler("-std=c++20", "fib.cpp", "-o", "fib", headers, libraries, "-ltulle", search)
            which("./fib")()
