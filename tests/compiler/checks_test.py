# SPDX-License-Identifier: Apache-2.0
"""What the plug-in of `tulle cc` writes into programs, for each version of clang that has one: with a run time that knows which lines may be touched
(recorder.c, and recorder_directory.c for checks by the directory) no access is without a check, results are those of a plain compilation, and without
any one check a program fails. Atomic changes that C has no names for are done at the home.
`python3 checks_test.py TULLE ROOT [VERSION...]`; TULLE_TEST_LEVELS=few: at three levels of optimization, not six"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LEVELS = [["-O0"], ["-O1"], ["-O2"], ["-O3"], ["-O3", "-mavx2", "-mfma", "-ffp-contract=off"], ["-O2", "-g"]]
DIRECTORY_LEVELS = [["-O0"], ["-O3", "-mavx2", "-mfma", "-ffp-contract=off"], ["-O2", "-D_FORTIFY_SOURCE=2"]]
if os.environ.get("TULLE_TEST_LEVELS") == "few":  # -O1 is what checks are left out of, at any rate
    LEVELS = [LEVELS[0], *LEVELS[4:]]
    DIRECTORY_LEVELS = DIRECTORY_LEVELS[1:]
CHANGES = {"floating": 15, "wrapping": 16}  # of changes/, and the first version of LLVM that knows them
NEED_DIRECTORY_CHECKS = ["programs/straight.c", "directory/strings.c"]
TIME_LIMIT = 60
CALL = re.compile(r"^\s*(?:tail )?call (?:preserve_(?:all|most)cc )?void @tulle_coherent_(?:load|store)")


def run(command, time_limit=TIME_LIMIT, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=time_limit, check=False, **options)


def must(command):
    done = run(command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Suite:
    """One version of clang."""

    def __init__(self, tulle, root, version, work):
        self.tulle, self.root, self.version, self.work = tulle, root, version, work
        self.here = root / "tests/compiler"
        self.failures = []
        flags = ["-I", self.here, "-I", root / "bench/checks/kernels", "-I", root / "include"]
        self.flags = flags
        must([self.clang("c"), "-O1", "-Wall", "-Wextra", *flags, "-c", self.here / "recorder.c", "-o", work / "recorder.o"])
        must([self.clang("cpp"), "-std=c++20", "-O1", "-I", root / "src", *flags, "-c", root / "src/dsm/atomic_access.cpp", "-o", work / "atomic.o"])
        must([self.clang("c"), "-O1", "-Wall", "-Wextra", *flags, "-c", self.here / "recorder_directory.c", "-o", work / "directory.o"])
        self.run_time = [work / "recorder.o", work / "atomic.o", "-lm"]
        self.directory_run_time = [work / "directory.o", work / "atomic.o", "-lm"]
        self.mains = {}
        for level in LEVELS:
            name = work / f"kernel_main{''.join(level)}"
            self.mains[tuple(level)] = name.with_suffix(".checked.o"), name.with_suffix(".plain.o")
            must([*self.checked(self.here / "kernel_main.c"), *level, *flags, "-c", self.here / "kernel_main.c", "-o", self.mains[tuple(level)][0]])
            must([self.clang("c"), *level, "-DPLAIN", *flags, "-c", self.here / "kernel_main.c", "-o", self.mains[tuple(level)][1]])

    def clang(self, kind):
        return f"clang++-{self.version}" if kind == "cpp" else f"clang-{self.version}"

    def checked(self, source):
        kind = source.suffix[1:]
        return [self.tulle, "c++" if kind == "cpp" else "cc", f"--clang={shutil.which(self.clang(kind))}"]

    def fail(self, what, done):
        self.failures.append(f"clang {self.version}: {what}: exit code {done.returncode}: {done.stdout}{done.stderr}")

    def build(self, source, level, name):
        program = self.work / name
        must([*self.checked(source), *level, *self.flags, "-c", source, "-o", program.with_suffix(".o")])
        extra = self.mains[tuple(level)][:1] if source.parent.name == "kernels" else []
        must([self.clang(source.suffix[1:]), program.with_suffix(".o"), *extra, *self.run_time, "-o", program])
        return program

    def try_program(self, source, level):
        name = source.stem + "".join(level).replace("=", "")
        done = run([self.build(source, level, name)])
        if done.returncode != 0:
            self.fail(f"{source.name} {' '.join(level)}", done)
            return
        if source.parent.name == "kernels":
            plain = self.work / f"{name}.plain"
            must([self.clang("c"), *level, "-DPLAIN", *self.flags, source, self.mains[tuple(level)][1], "-lm", "-o", plain])
            wanted = must([plain])
            if wanted != done.stdout:
                self.failures.append(f"clang {self.version}: {source.name} {' '.join(level)}: result {done.stdout}instead of {wanted}")

    def try_changes(self, name, level, scheme):
        """Functions in the language of LLVM, called by a C program of the same name."""
        program = self.work / f"changes_{name}{''.join(level).replace('=', '')}.{scheme}"
        objects = []
        for suffix in ("ll", "c"):
            source = self.here / f"changes/{name}.{suffix}"
            objects.append(program.with_name(f"{program.name}.{suffix}.o"))
            must([self.tulle, "cc", f"--clang={shutil.which(self.clang('c'))}", f"--scheme={scheme}", *level, "-Wno-override-module",
                  *(self.flags if suffix == "c" else []), "-c", source, "-o", objects[-1]])
        must([self.clang("c"), *objects, *(self.directory_run_time if scheme == "directory" else self.run_time), "-pthread", "-o", program])
        done = run([program])
        if done.returncode != 0:
            self.fail(f"changes/{name} --scheme={scheme} {' '.join(level)}", done)

    def needs_no_check(self):
        source = self.here / "programs/private.c"
        text = must([*self.checked(source), "-O1", *self.flags, "-S", "-emit-llvm", source, "-o", "-"])
        if re.search(r"call .*@tulle_coherent_(load|store|atomic)", text):
            self.failures.append(f"clang {self.version}: private.c has checks")

    def needs_few_checks(self):
        """`// checks: N` stands above functions of which it is known; the calls for the two ends of an access count as one."""
        source = self.here / "programs/neighbours.c"
        wanted = {name: int(count) for count, name in re.findall(r"// checks: (\d+).*\n.* (\w+)\(", source.read_text())}
        text = must([*self.checked(source), "-O1", *self.flags, "-S", "-emit-llvm", source, "-o", "-"])
        bodies = re.findall(r"^define [^\n]*@(\w+)\([^\n]*\{\n(.*?)^\}", text, re.M | re.S)
        found = {name: len(self.groups_of([n for n, line in enumerate(body.splitlines()) if CALL.match(line)])) for name, body in bodies}
        for name, count in wanted.items():
            if found.get(name) != count:
                self.failures.append(f"clang {self.version}: {name} of neighbours.c has {found.get(name)} checks instead of {count}")

    def has_loops_without_checks(self):
        """Where all of its table is checked ahead a loop looks at no guard: it is one block, which stores and goes back to itself."""
        source = self.here / "programs/tables.c"
        text = must([*self.checked(source), "-O1", *self.flags, "-S", "-emit-llvm", source, "-o", "-"])
        body = re.search(r"^define [^\n]*@count_digits\(.*?^\}", text, re.M | re.S).group(0)
        parts = re.split(r"^([\w.]+):.*$", body, flags=re.M)
        blocks = zip(parts[1::2], parts[2::2])
        if not any(re.search(r"^  store ", block, re.M) and re.search(rf"^  br .*label %{re.escape(name)}(,|$)", block, re.M) for name, block in blocks):
            self.failures.append(f"clang {self.version}: no loop of count_digits is without checks")

    def try_directory(self, source, level):
        """What a program of the recorder's checks by the directory needs, compiled in one piece."""
        program = self.work / f"{source.stem}{''.join(level).replace('=', '')}.directory"
        command = self.checked(source)
        must([*command[:2], "--scheme=directory", "-DBY_DIRECTORY", *command[2:], *level, *self.flags, "-c", source, "-o", program.with_suffix(".o")])
        must([self.clang(source.suffix[1:]), program.with_suffix(".o"), *self.directory_run_time, "-o", program])
        done = run([program])
        if done.returncode != 0:
            self.fail(f"{source.name} --scheme=directory {' '.join(level)}", done)

    def each_directory_check_is_needed(self, source, level):
        """Makes one test of the range after the other fail, by which a check comes to nothing."""
        command = self.checked(source)
        text = must([*command[:2], "--scheme=directory", "-DBY_DIRECTORY", *command[2:], *level, *self.flags, "-S", "-emit-llvm", source, "-o", "-"]).splitlines()
        function, found = "", []
        for n, line in enumerate(text):
            function = line if line.startswith("define") else function
            if re.search(r"icmp eq i64 %\S+, 2$", line) and "@main(" not in function:
                found.append(n)
        numbered = list(text)
        for number, at in enumerate(found, 1):
            compares = re.sub(", 2$", f", %range.{number}", text[at])
            numbered[at] = f"  %range.{number} = call i64 @recorder_range(i32 {number})\n{compares}"
        program = self.link_numbered(source, [*numbered, "declare i64 @recorder_range(i32)"], "directory", self.directory_run_time)
        self.miss_each(program, f"{source.name} --scheme=directory {' '.join(level)}", text, found)
        return len(found)

    @staticmethod
    def function_at(text, number):
        return next(line.split("@")[1].split("(")[0] for line in reversed(text[:number]) if line.startswith("define"))

    @staticmethod
    def groups_of(calls):
        """Lines of calls, those that follow each other in one group."""
        groups = [[n] for n in calls if n - 1 not in calls]
        for group in groups:
            while group[-1] + 1 in calls:
                group.append(group[-1] + 1)
        return groups

    def each_is_needed(self, source, level):
        """Leaves the checks out, one after the other, but for those of main, which only looks at results; the two ends of one access count as one."""
        text = must([*self.checked(source), *level, *self.flags, "-S", "-emit-llvm", source, "-o", "-"]).splitlines()
        calls, function = [], ""
        for n, line in enumerate(text):
            function = line if line.startswith("define") else function
            if CALL.match(line) and "@main(" not in function:
                calls.append(n)
        groups = self.groups_of(calls)
        numbered = list(text)
        for number, group in enumerate(groups, 1):
            for n in group:
                numbered[n] = f"  call void @recorder_next_check(i32 {number})\n{text[n]}"
        program = self.link_numbered(source, [*numbered, "declare void @recorder_next_check(i32)"], "checks", self.run_time)
        self.miss_each(program, f"{source.name} {' '.join(level)}", text, [group[0] for group in groups])
        return len(groups)

    def link_numbered(self, source, text, kind, run_time):
        """A program whose checks tell the recorder their numbers."""
        program = self.work / f"{source.stem}.{kind}.numbered"
        file = program.with_suffix(".ll")
        file.write_text("\n".join(text))
        must([self.clang(source.suffix[1:]), "-Wno-override-module", "-O1", "-Xclang", "-disable-llvm-passes", file, *run_time, "-o", program])
        must([program])
        return program

    def miss_each(self, program, what, text, lines):
        """Runs it without the check of each of the lines, upon which it must fail (left_out.h)."""
        done = run([program], len(lines) * TIME_LIMIT, env={**os.environ, "TULLE_LEFT_OUT_TO": str(len(lines))})
        if done.returncode != 0:
            self.fail(f"{what} without one check after the other", done)
        for at in (lines[int(number) - 1] for number in done.stdout.split()):
            self.failures.append(f"clang {self.version}: {what}: nothing misses the check {text[at].strip()} in {self.function_at(text, at)}")


def versions_of(tulle):
    folder = pathlib.Path(tulle).parent.parent / "lib/tulle"
    found = [re.search(r"(\d+)\.so$", path.name).group(1) for path in sorted(folder.glob("coherent-checks-*.so"))]
    return [version for version in found if shutil.which(f"clang++-{version}") or shutil.which(f"clang-{version}")]


def test_version(tulle, root, version):
    with tempfile.TemporaryDirectory() as work:
        suite = Suite(tulle, root, version, pathlib.Path(work))
        programs = sorted((root / "tests/compiler/programs").iterdir())
        by_directory = sorted((root / "tests/compiler/directory").iterdir())
        sources = programs + sorted((root / "bench/checks/kernels").glob("*.c"))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda job: suite.try_program(*job), [(source, level) for source in sources for level in LEVELS]))
            list(pool.map(lambda job: suite.try_directory(*job), [(source, level) for source in programs + by_directory
                                                                 for level in DIRECTORY_LEVELS]))
            changes = [name for name, first in CHANGES.items() if int(version) >= first]
            list(pool.map(lambda job: suite.try_changes(*job), [(name, level, scheme) for name in changes
                                                               for scheme, levels in (("states", LEVELS), ("directory", DIRECTORY_LEVELS))
                                                               for level in levels]))
        suite.needs_no_check()
        suite.needs_few_checks()
        suite.has_loops_without_checks()
        counted = [suite.each_is_needed(source, ["-O1"]) for source in programs if source.stem != "private"]
        counted += [suite.each_directory_check_is_needed(root / "tests/compiler" / name, ["-O1"]) for name in NEED_DIRECTORY_CHECKS]
        print(f"clang {version}: {len(sources)} programs, {len(LEVELS)} ways to compile; {sum(counted)} checks taken out")
        return suite.failures


def main():
    tulle, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    os.environ.pop("TULLE_COHERENT_CHECKS", None)
    failures = []
    for version in sys.argv[3:] or versions_of(tulle):
        failures += test_version(tulle, root, version)
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


main()
