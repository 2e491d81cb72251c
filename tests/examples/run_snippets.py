# SPDX-License-Identifier: Apache-2.0
"""run_snippets.py PLAN PROGRAMS TULLE [MPIRUN]: runs what extract_snippets.py has planned for a document.

PROGRAMS is the folder of what was compiled. Programs that no command of the document calls are run by themselves. Those that
need a library or a tool which is not there are left out, and so is what their document says they print."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SECONDS = 300


def fail(plan, step, message):
    sys.exit(f"{plan['document']}:{step['line']}: {message}")


def pattern_of(expected):
    """What the text of a document says about output, as a regular expression."""
    lines = [r"(?:[^\n]*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()).replace(r"\.\.\.", "[^\n]*?") + "[ \t]*\n"
             for line in expected.splitlines()]
    return re.compile("".join(lines))


def check_output(plan, step, expected, printed):
    text = printed if printed.endswith("\n") or not printed else printed + "\n"
    if not pattern_of(expected).fullmatch(text):
        fail(plan, step, f"expected\n{expected}\nbut printed is\n{printed}")


class Chapter:
    def __init__(self, plan, arguments, folder):
        self.plan = plan
        self.source = pathlib.Path(arguments[0]).parent
        self.programs, self.tulle = map(pathlib.Path, arguments[1:3])
        self.mpirun = arguments[3] if len(arguments) > 3 else None
        self.folder = folder
        self.printed = ""
        self.environment = dict(os.environ, PATH=f"{self.tulle.parent}:{os.environ['PATH']}")

    def link_programs(self):
        for name in self.plan["joined"]:
            (self.folder / name).symlink_to(self.programs / "joined")
        for step in self.plan["steps"]:
            name = step.get("run")
            if name and not (self.folder / name).is_symlink() and (self.programs / name).exists():
                (self.folder / name).symlink_to(self.programs / name)

    def words_of(self, step):
        """The command that runs a program; none where it cannot be."""
        name = step["run"]
        if step["language"] == "go":
            go = shutil.which("go")
            return [go, "run", str(self.source / f"{name}.go")] if go else None
        if not (self.folder / name).exists():
            if step["with"] == "none":
                fail(self.plan, step, f"{name} was not built")
            return None
        if step["with"] == "mpi":
            return [self.mpirun, *self.mpi_options(), "-n", str(step["places"]), f"./{name}"] if self.mpirun else None
        if step["places"]:
            return [str(self.tulle), "run", "-n", str(step["places"]), f"./{name}"]
        return [f"./{name}"]

    def mpi_options(self):
        return ["--allow-run-as-root", "--oversubscribe"] if "openmpi" in self.mpirun else []

    def start(self, step, words, shell=False):
        run = subprocess.run(words, cwd=self.folder, env=self.environment, shell=shell, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False)
        self.printed = run.stdout
        return run.returncode

    def check_end(self, step, code, fails):
        if fails == (code == 0):
            fail(self.plan, step, f"ended with {code}, {'no' if fails else 'an'} error:\n{self.printed}")

    def run_program(self, step):
        words = None if step["by_command"] else self.words_of(step)
        self.printed = None
        if words:
            self.check_end(step, self.start(step, words), step["fails"])
        elif not step["by_command"]:
            self.say_not_run(step, step["with"])

    def left_out(self, text):
        """A program that commands call, and that was not built as its library is not there."""
        for step in self.plan["steps"]:
            if step.get("with", "none") != "none" and re.search(rf"\./{step['run']}\b", text) and not (self.folder / step["run"]).exists():
                return step
        return None

    def say_not_run(self, step, missing):
        print(f"{self.plan['document']}:{step['line']}: not run: {missing} or its tool is not there")

    def run_console(self, step):
        if missing := self.left_out(step["console"]):
            return self.say_not_run(step, missing["with"])
        commands = re.split(r"^\$ ", step["console"], flags=re.MULTILINE)
        if commands[0] or len(commands) == 1:
            fail(self.plan, step, "does not begin with a command")
        for number, text in enumerate(commands[1:], 1):
            command, _, expected = text.partition("\n")
            code = self.start(step, command, shell=True)
            self.check_end(step, code, step["fails"] and number == len(commands) - 1)
            if expected:
                check_output(self.plan, step, expected, self.printed)

    def run(self):
        self.link_programs()
        for step in self.plan["steps"]:
            if "run" in step:
                self.run_program(step)
            elif "console" in step:
                self.run_console(step)
            elif self.printed is not None:
                check_output(self.plan, step, step["text"], self.printed)


def main():
    plan = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        Chapter(plan, sys.argv[1:], pathlib.Path(folder)).run()


main()
