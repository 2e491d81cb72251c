# SPDX-License-Identifier: Apache-2.0
"""spack.py WORK BUILD: what packaging/spack makes where Spack is not to be had. The names below do what Spack's packaging guide says of those of the same name,
as far as the recipe uses them, each in the module that has it; a name that it does not know is an error.
Unlike the recipe it compiles by way of ccache; BUILD lies as deep as the preset's folder, so that what that has compiled is found."""
import contextlib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import types

PROJECT = pathlib.Path(__file__).resolve().parents[3]
RECIPE = PROJECT / "packaging/spack/spack_repo/tulle/packages/tulle/package.py"


class Spec:
    """Answers for one choice of variants; `spec["mpi"]` has what a package of an MPI has, and so for `llvm`, here of version 14.0.6."""

    def __init__(self, variants, mpicc="", llvm=""):
        self.variants = variants
        version = types.SimpleNamespace(up_to=lambda count: ".".join("14.0.6".split(".")[:count]))
        self._known = {"mpi": types.SimpleNamespace(mpicc=mpicc),
                       "llvm": types.SimpleNamespace(version=version, prefix=types.SimpleNamespace(bin=f"{llvm}/bin"))}

    def satisfies(self, constraint):
        assert constraint[0] in "+~" and constraint[1:] in self.variants, constraint
        return self.variants[constraint[1:]] == (constraint[0] == "+")

    def __getitem__(self, name):
        assert self.variants.get(name), f"{name} is no dependency of this spec"
        return self._known[name]


class CMakePackage:
    """`package["cxx"]` has what a package of a compiler has."""
    test_requires_compiler = False

    def __init__(self, spec, prefix):
        self.spec = spec
        self.prefix = types.SimpleNamespace(include=f"{prefix}/include", lib=f"{prefix}/lib")
        self.compiler = os.environ.get("CXX", "g++")

    def __getitem__(self, name):
        assert name == "cxx", f"{name} is no language of C++"
        return types.SimpleNamespace(cxx=self.compiler)

    @staticmethod
    def define(name, value):
        kind, text = ("BOOL", "ON" if value else "OFF") if isinstance(value, bool) else ("STRING", value)
        return f"-D{name}:{kind}={text}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.spec.variants[variant])


def run_test(package):
    """As Spack 1 runs it, which sets no CXX there: https://github.com/spack/spack/pull/50001."""
    assert package.test_requires_compiler, "a test that compiles something must say so"
    os.environ.pop("CXX", None)
    package.test_fib()


def executable(path):
    return lambda *arguments: subprocess.run([path, *arguments], check=True)


def directives(recorded):
    def record(kind):
        return lambda *arguments, **options: recorded.setdefault(kind, []).append((arguments, options))

    def run_after(phase):
        assert phase in ("cmake", "build", "install")
        return lambda function: function

    def cache_extra_test_sources(package, paths):
        for path in paths:
            shutil.copytree(PROJECT / path, pathlib.Path(package.test_suite.current_test_cache_dir) / path, dirs_exist_ok=True)

    names = {kind: record(kind) for kind in ("license", "version", "variant", "depends_on", "conflicts")}
    names |= {"run_after": run_after, "cache_extra_test_sources": cache_extra_test_sources, "join_path": os.path.join,
              "working_dir": contextlib.chdir, "Executable": executable, "which": lambda name: executable(shutil.which(name) or name)}
    return names, {"CMakePackage": CMakePackage, "generator": record("generator")}


def load(recipe=RECIPE):
    """The recipe's class, and the directives that it has given."""
    recorded = {}
    base = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    package = types.ModuleType("spack.package")
    for module, names in zip((package, base), directives(recorded)):
        vars(module).update(names)
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules.update({package.__name__: package, base.__name__: base})
    specification = importlib.util.spec_from_file_location("package", recipe)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.Tulle, recorded


def variants_of(recorded, **chosen):
    return {arguments[0]: options["default"] for arguments, options in recorded["variant"]} | chosen


def main(work, build):
    made, recorded = load()
    package = made(Spec(variants_of(recorded)), work / "prefix")
    package.test_suite = types.SimpleNamespace(current_test_cache_dir=str(work / "kept"))
    for command in (["cmake", "-G", "Ninja", "-S", PROJECT, "-B", build, f"-DCMAKE_INSTALL_PREFIX={work}/prefix", "-DCMAKE_BUILD_TYPE=Release",
                     *package.cmake_args(), "-DTULLE_USE_CCACHE=ON"],
                    ["cmake", "--build", build], ["cmake", "--build", build, "--target", "install"]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    package.keep_test_program()
    run_test(package)
    subprocess.run([work / "prefix/bin/tulle", "info"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main(*(pathlib.Path(folder).resolve() for folder in sys.argv[1:]))
