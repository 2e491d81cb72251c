# SPDX-License-Identifier: Apache-2.0
"""The commands `tulle threads` and `tulle bt` in gdb: a live process, one that gdb attaches to, a core file, a stripped library, a static one.
Arguments: the script for gdb, the program with the shared library, the one with the static library, the shared library."""
import glob
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SCRIPT, SHARED, STATIC, LIBRARY = (os.path.abspath(word) for word in sys.argv[1:5])
del sys.argv[1:5]
# What the program's threads do: name -> state, the function that is shown.
STATES = {"weaver": (r"blocked in tulle::mutex::lock(_cold)?", "wants_the_mutex"),
          "deep": (r"blocked in tulle::latch::wait", "waits_for_the_latch"),
          "forking": (r"blocked in tulle::.*", ""),
          "soon": ("ready", "waits_for_a_moment"),
          "busy": (r"running on worker 1 \(OS thread \d+\)", "computes"),
          "later": ("not started", "(spawned by main")}


def run_gdb(*commands, program=None, script=SCRIPT, environment=None, first=()):
    words = ["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "set width 0"]
    words += [word for command in first for word in ("-iex", command)]
    words += ["-x", script] if script else []
    words += [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(words + (program or []), capture_output=True, text=True, timeout=100, env={**os.environ, **(environment or {})})
    return done.stdout + done.stderr


def why_not():
    """A reason to skip, or None."""
    if shutil.which("gdb") is None:
        return "gdb is not installed"
    if "yes" not in run_gdb("python print('yes')", script=None):
        return "gdb has no Python"
    if "exited normally" not in run_gdb("run", program=["/bin/true"], script=None):
        return "ptrace is not permitted here"
    return None


DEEP, LATER = "3", "7"
REASON = why_not()
STOP = ("break reached", "run")


class Table:
    """What `tulle threads` printed."""

    def __init__(self, text):
        head = re.search(r"^(Id +)(Name +)(State +)(Where +)Stack$", text, re.MULTILINE)
        assert head is not None, text
        ends = [head.end(k) - head.start() for k in range(1, 5)]
        self.rows = []
        for line in text[head.end() + 1:].splitlines():
            if re.match(r"\d+ threads \(", line):
                self.summary = line
                break
            cells = [line[begin:end].strip() for begin, end in zip([0, *ends], [*ends, None])]
            self.rows.append(dict(zip(("id", "name", "state", "where", "stack"), cells)))

    def named(self, name):
        row, = (row for row in self.rows if row["name"] == name)
        return row


@unittest.skipIf(REASON, REASON)
class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def check_threads(self, text, functions=True):
        table = Table(text)
        for name, (state, function) in STATES.items():
            row = table.named(name)
            self.assertRegex(row["state"], rf"\A{state}\Z", text)
            if functions:
                self.assertIn(function, row["where"], text)
            self.assertEqual(row["stack"] == "-", name == "later", text)
        main = table.rows[0]
        self.assertRegex(main["state"], r"\Arunning on worker 0 ", text)
        forked, = (row for row in table.rows if row["id"].startswith("0x"))
        self.assertEqual(forked["state"], "blocked in tulle::latch::wait", text)
        foreign, = (row for row in table.rows if row["state"].startswith("foreign"))
        self.assertRegex(foreign["state"], r"\Aforeign in tulle::latch::wait \(OS thread \d+\)\Z", text)
        self.assertRegex(table.summary, r"\A9 threads \(4 blocked, 1 foreign, 1 not started, 1 ready, 2 running\) on 2 workers, 0 of them idle\.\Z")
        return table

    def check_stack_of_deep(self, whole):
        text = re.search(rf'^Thread {DEEP} "deep": blocked, spawned by main.*\n(#.*\n)+', whole, re.MULTILINE)[0]
        frames = re.findall(r"^#(\d+) .*?\bwaits_for_the_latch\b", text, re.MULTILINE)
        self.assertEqual(len(frames), 4, text)
        self.assertEqual(frames, [str(int(frames[0]) + k) for k in range(4)], text)
        self.assertRegex(text, r"(?m)^#0 .*tulle::(arch|sched)::", text)
        self.assertRegex(text, r"(?m)^#\d+ .*tulle::sched::own_stack_main", text)

    def check(self, *commands, **how):
        """Everything. The ids are the same in each run: main draws them one after the other."""
        text = run_gdb(*commands, "tulle threads", f"tulle bt {DEEP}", f"tulle bt {LATER}", **how)
        table = self.check_threads(text)
        self.assertEqual((table.named("deep")["id"], table.named("later")["id"]), (DEEP, LATER))
        self.check_stack_of_deep(text)
        self.assertIn(f'Thread {LATER} "later": not started, spawned by main', text)
        self.assertIsNone(re.search("Python Exception|Traceback|rror", text), text)

    def test_live_process(self):
        self.check(*STOP, program=[SHARED])

    def test_static_library(self):
        self.check(*STOP, program=[STATIC])

    def test_core_file(self):
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        with subprocess.Popen([SHARED, "stay"], stdout=subprocess.PIPE, text=True, cwd=self.folder,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, unlimited)) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(signal.SIGABRT)
        cores = glob.glob(os.path.join(self.folder, "core*"))
        if not cores:
            self.skipTest("this system puts core files elsewhere")
        self.check(program=[SHARED, cores[0]])

    def test_stripped_library(self):
        shutil.copy(LIBRARY, os.path.join(self.folder, "libtulle.so.0"))
        subprocess.run(["strip", "--strip-all", os.path.join(self.folder, "libtulle.so.0")], check=True)
        text = run_gdb(f"set environment LD_LIBRARY_PATH {self.folder}", *STOP, "tulle threads", "info sharedlibrary", program=[SHARED])
        self.assertIn(self.folder, text)
        self.check_threads(text)

    def test_attached_process(self):
        with subprocess.Popen([SHARED, "stay"], stdout=subprocess.PIPE, text=True) as process:
            try:
                self.assertEqual(process.stdout.readline(), "ready\n")
                text = run_gdb("tulle threads", program=["-p", str(process.pid)])
                if "ptrace: Operation not permitted" in text:
                    self.skipTest("attaching is not permitted here")
                self.check_threads(text)
            finally:
                process.kill()

    def test_all_stacks(self):
        text = run_gdb(*STOP, "tulle bt all", "bt", program=[SHARED])
        self.assertEqual(len(re.findall(r"^Thread ", text, re.MULTILINE)) - 1, 9, text)  # gdb's own line begins like that, too
        self.check_stack_of_deep(text)
        self.assertRegex(text.strip().rsplit("\n\n", 1)[1], r"\A#0 .*reached")  # the selected thread is that of before

    def test_arguments_of_bt(self):
        text = run_gdb(*STOP, f"tulle bt {DEEP} 3", f"tulle bt {DEEP} -3", program=[SHARED])
        _, inner, outer = text.split('"deep": blocked, ')
        self.assertEqual(re.findall(r"^#\d+ ", inner, re.MULTILINE), ["#0 ", "#1 ", "#2 "], text)
        self.assertEqual(len(re.findall(r"^#\d+ ", outer, re.MULTILINE)), 3, text)
        self.assertIn("tulle_context_entry", outer)

    def test_auto_load(self):
        place = self.folder + os.path.realpath(LIBRARY) + "-gdb.py"
        os.makedirs(os.path.dirname(place))
        shutil.copy(SCRIPT, place)
        allowed = ("set auto-load safe-path /", f"set auto-load scripts-directory {self.folder}")
        self.check_threads(run_gdb(*STOP, "tulle threads", program=[SHARED], script=None, first=allowed))

    def test_wrong_use(self):
        for commands, complaint in ((("tulle threads",), "The program is not being run."),
                                    ((*STOP, "tulle bt 77777"), "There is no thread 77777; `tulle threads` lists them."),
                                    ((*STOP, "tulle bt"), "Usage: tulle bt ID|all"),
                                    ((*STOP, "tulle threads -blah"), "Usage: tulle threads"),
                                    (("break main", "run", "tulle threads"), "Tulle has not been used yet.")):
            self.assertIn(complaint, run_gdb(*commands, program=[SHARED]))
        self.assertIn("This program has no Tulle in it, or it is not loaded yet.",
                      run_gdb("starti", "tulle threads", program=["/bin/true"]))


if __name__ == "__main__":
    unittest.main()
