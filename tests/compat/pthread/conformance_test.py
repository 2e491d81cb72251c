# SPDX-License-Identifier: Apache-2.0
"""Programs of POSIX threads print the same upon the C library and upon libtulle-preload, which `tulle run --pthreads` loads.
Arguments: the program `tulle`, the program of cases, a library by which static variables are made slowly, one with an allocator that locks, one
that makes threads in its constructor, one that lacks a function of the C library, one with an allocator that begins before this library."""
import functools
import os
import re
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TULLE, CASES, SLOW_STATICS, ALLOCATOR, EARLY_THREADS, POOR_LIBC, SPINNING, COUNTING_LINKER = (os.path.abspath(path) for path in sys.argv[1:9])
del sys.argv[1:9]
WAY = (TULLE, "run", "--pthreads")
PATIENCE = 60  # seconds, for what must not hang


def run(*words, **variables):
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **variables})


def library():
    return run(*WAY, "sh", "-c", "echo $LD_PRELOAD").stdout.strip()


@functools.cache
def natively(name):
    return run(CASES, name)


class Conformance(unittest.TestCase):
    def compare(self, names=None, **variables):
        names = names or run(CASES).stdout.split()
        for name in names:
            with self.subTest(case=name, **variables):
                native, ours = natively(name), run(*WAY, CASES, name, **variables)
                self.assertEqual(native.returncode, 0, native)
                self.assertNotEqual(native.stdout, "")
                self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (native.returncode, native.stdout, native.stderr))

    def test_cases_are_listed(self):
        self.assertGreater(len(run(CASES).stdout.split()), 20)

    def test_calls_block_their_thread_only(self):
        """Not even one worker, in whose place no other may run."""
        self.compare(["blocking_calls", "waits_for_children", "file_locks", "queues", "transfers", "c11_threads", "shared_semaphores", "named_semaphores",
                      "numbers_of_files", "handlers_at_waits_for_children"], TULLE_WORKERS="1", TULLE_MAX_SUBSTITUTES="0")

    def test_a_process_is_no_place(self):
        """Whatever has started it: it would wait for the others, which know nothing of places, either."""
        self.compare(["conditions"], TULLE_TRANSPORT="openmpi")
        done = run(TULLE, "run", "-n", "2", "--", "env", f"LD_PRELOAD={library()}", CASES, "conditions")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        said = sorted(line.removeprefix("[1] ") for line in done.stdout.splitlines())
        self.assertEqual(said, sorted(2 * natively("conditions").stdout.splitlines()))

    def test_files_of_the_run_time_are_not_the_programs(self):
        """They are refused under all names, a forked child has none of them, and who waits for them is woken."""
        for most in (64, 1024):
            limited = ("sh", "-c", f"ulimit -n {most}; exec " + '"$@"', "sh", *WAY, CASES, "numbers_of_the_run_time")
            done = run(*limited)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)
            said = dict(line.rsplit(": ", 1) for line in done.stdout.splitlines())
            self.assertGreater(len(said), 12, done)
            for call, result in said.items():
                replaces = "dup" in call and "0, number" in call
                self.assertEqual(result, "EBUSY" if replaces else "0" if "child" in call else "EBADF" if "number" in call else "1", (most, call))

    def test_threads_wait_for_the_disk_themselves_where_another_worker_sleeps(self):
        """Else a helper does, which costs two wakes; so, too, where nobody would find a worker that stays in the kernel for long."""
        for workers, substitutes, helpers in (("2", "64", "0"), ("1", "64", "1"), ("2", "0", "1")):
            for _ in range(30):  # on a busy machine the other worker may be awake
                done = run(*WAY, CASES, "syncs_beside_sleepers", TULLE_WORKERS=workers, TULLE_MAX_SUBSTITUTES=substitutes)
                if done.stdout == f"helpers: {helpers}\n":
                    break
            self.assertEqual((done.returncode, done.stdout), (0, f"helpers: {helpers}\n"), (workers, substitutes))

    def test_who_is_cancelled_is_told_of_what_a_call_has_got(self):
        """The next cancellation point ends the thread, and no byte is lost; natively the call does, and nobody knows of the part."""
        for workers in ("1", "2"):
            done = run(*WAY, CASES, "parts_of_the_cancelled", TULLE_WORKERS=workers)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)
            received = "recv(ends[0], s_message, sizeof s_message, 0): 2, errno 0\n"
            self.assertEqual(done.stdout, 2 * f"result == PTHREAD_CANCELED: 1\ngot: 3 abc\n{received}de\n")

    def test_ceilings_of_priorities_refuse_those_above(self):
        done = run(*WAY, CASES, "ceiling_locks")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        for line in ("got: 20", "count: 4000", "pthread_mutex_lock(&s_ceiling) == EINVAL: 1", "pthread_mutex_trylock(&s_ceiling) == EINVAL: 1",
                     "before: 20", "pthread_mutex_lock(&s_ceiling): 0", "pthread_mutex_setprioceiling(&s_ceiling, 31, &before) == EDEADLK: 1",
                     "pthread_mutex_setprioceiling(&s_ceiling, 32, nowhere): 0", "before: 32"):
            self.assertIn(line + "\n", done.stdout)

    def test_threads_tell_the_kernel_of_masks_where_a_worker_blocks_what_they_want(self):
        """Two system calls for each thread from then on, once nobody had wanted a signal."""
        done = run(*WAY, CASES, "starts_after_unwanted", TULLE_WORKERS="1", TULLE_MAX_SUBSTITUTES="0") # others block SIGSYS as they start
        if done.stdout == "calls cannot be counted\n":
            self.skipTest("there are no filters of system calls here")
        self.assertRegex(done.stdout, r"\Acalls: \d+\n\Z", done)
        self.assertLess(int(done.stdout.split()[1]), 100, done)

    def test_forks_while_another_thread_makes_what_is_made_once(self):
        for workers in ("1", "2"):
            done = run(CASES, "forks_at_begin", LD_PRELOAD=f"{SLOW_STATICS}:{library()}", TULLE_WORKERS=workers)
            self.assertEqual((done.returncode, done.stdout), (0, "good: 20\n"), done)

    def test_an_allocator_may_take_locks_of_threads(self):
        """The run time takes memory itself, and then waits for the lock where no thread of the program is."""
        for name in (name for name in run(CASES).stdout.split() if name.startswith("allocator_")):
            for workers in ("1", "2"):
                with self.subTest(case=name, workers=workers):
                    native = run(CASES, name, LD_PRELOAD=ALLOCATOR)
                    ours = run(CASES, name, LD_PRELOAD=f"{ALLOCATOR}:{library()}", TULLE_WORKERS=workers)
                    self.assertEqual(native.returncode, 0, native)
                    self.assertNotEqual(native.stdout, "")
                    self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (0, native.stdout, ""))

    def test_an_allocator_may_begin_before_this_one_is_ready(self):
        """It holds a lock when it registers handlers of forks, and may not be called meanwhile."""
        native = run(CASES, "conditions", LD_PRELOAD=SPINNING)
        ours = run(CASES, "conditions", LD_PRELOAD=f"{library()}:{SPINNING}")
        self.assertTrue(native.stdout.startswith("memory before main\n"), native)
        self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (0, native.stdout, ""))

    def test_libraries_may_make_threads_before_this_one_is_ready(self):
        """Constructors of libraries that a program is linked with come before that of this one; they have handlers of forks, too."""
        for name in ("masks", "lent", "forks", "rules_of_fork", "vforks", "conditions"):
            for workers in ("1", "2"):
                with self.subTest(case=name, workers=workers):
                    native = run(CASES, name, LD_PRELOAD=EARLY_THREADS)
                    ours = run(CASES, name, LD_PRELOAD=f"{library()}:{EARLY_THREADS}", TULLE_WORKERS=workers)
                    self.assertEqual(native.returncode, 0, native)
                    self.assertTrue(native.stdout.startswith("threads before main: 3\n"), native)
                    self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (0, native.stdout, ""))

    def test_the_linker_is_hardly_asked_for_first_values(self):
        """A thousand threads begin in memory that threads have used."""
        done = run(CASES, "variables_of_many", LD_PRELOAD=f"{library()}:{COUNTING_LINKER}", TULLE_WORKERS="1")
        self.assertEqual((done.returncode, done.stdout), (0, "dirty: 0\n"), done)
        [times] = re.findall(r"^asked (\d+) times$", done.stderr, re.MULTILINE)
        self.assertTrue(1 <= int(times) <= 20, done)

    def test_what_is_ignored_at_the_start_stays_ignored(self):
        """A shell has its background jobs ignore SIGINT and SIGQUIT."""
        background = ("sh", "-c", '"$@" & wait $!', "sh")
        native, ours = run(*background, CASES, "masks_of_programs"), run(*background, *WAY, CASES, "masks_of_programs")
        self.assertRegex(native.stdout, r"SigIgn:\t[0-9a-f]{15}7\n") # and what whoever started the test ignores
        self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (0, native.stdout, native.stderr))

    def test_all_cases(self):
        self.compare()

    def test_all_cases_with_one_worker(self):
        self.compare(TULLE_WORKERS="1")


class Loading(unittest.TestCase):
    def test_other_preloaded_libraries_stay(self):
        done = run(*WAY, "sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD="libdl.so.2")
        self.assertRegex(done.stdout, r"/libtulle-preload\.so\.\d+:libdl\.so\.2\n")

    def test_threads_are_few_os_threads(self):
        """Thousands of threads that wait; the C library would have an OS thread for each."""
        for name in ("hold", "hold_c11"):
            with self.subTest(name), subprocess.Popen([*WAY, CASES, name], stdout=subprocess.PIPE, text=True) as program:
                self.addCleanup(program.kill)
                self.assertEqual(program.stdout.readline(), "waiting\n")
                self.assertLess(len(os.listdir(f"/proc/{program.pid}/task")), 100)
                program.send_signal(signal.SIGTERM)
                self.assertEqual(program.wait(timeout=PATIENCE), -signal.SIGTERM)

    def test_reports_tell_names_of_threads(self):
        with subprocess.Popen([*WAY, CASES, "hold_named"], stdout=subprocess.PIPE, text=True) as program:
            self.addCleanup(program.kill)
            line = program.stdout.readline()
            said = run(TULLE, "ps", str(program.pid)).stdout
            program.kill()
        self.assertEqual(line, "waiting\n")
        for name in ('"by itself"', '"early, perhaps"', '"a?b"'):
            self.assertIn(f" {name} ", said)

    def test_who_overflows_a_stack_is_told_what_to_do(self):
        """Options of Tulle change nothing at stacks of such threads."""
        done = run(*WAY, CASES, "overflow", TULLE_DEADLOCK="off")
        self.assertEqual(done.returncode, -signal.SIGSEGV, done)
        self.assertRegex(done.stderr, r"(?m)^    give it \d+ bytes or more: pthread_attr_setstacksize, or ulimit -s \d+ where the program does not choose$")
        self.assertNotIn("TULLE_STACK_SIZE", done.stderr)

    def test_it_tells_what_the_system_runs(self):
        done = run(TULLE, "run", "--pthreads", "--explain", CASES, "own_resources")
        self.assertIn("\nthreads that are OS threads: 1, as they bring memory for their stacks\n", done.stderr)
        self.assertIn("\nthreads that are OS threads: 2, as they are to run on some processors only\n", done.stderr)
        self.assertIn("\nthreads that are OS threads: 1, as they ask for larger guards of their stacks\n", done.stderr)

    def test_it_needs_no_other_place_and_no_seed(self):
        for words in (("-n", "2"), ("--seed", "1")):
            done = run(*WAY, *words, "true")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("--pthreads", done.stderr)

    def test_a_moved_prefix_finds_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("bin", "lib"):
                os.mkdir(os.path.join(folder, name))
            shutil.copy(TULLE, os.path.join(folder, "bin", "tulle"))
            shutil.copy(library(), os.path.join(folder, "lib", pathlib.Path(library()).name))
            done = run(os.path.join(folder, "bin", "tulle"), "run", "--pthreads", "sh", "-c", "echo $LD_PRELOAD")
            self.assertIn(os.path.realpath(folder), os.path.realpath(done.stdout.strip()))

    def test_a_program_that_is_linked_statically_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            program, source = os.path.join(folder, "prog"), os.path.join(folder, "prog.c")
            pathlib.Path(source).write_text("int main(void) { return 3; }\n", encoding="utf-8")
            if subprocess.run(["cc", "-static", source, "-o", program], capture_output=True, check=False).returncode != 0:
                self.skipTest("there is no C library for programs that are linked statically")
            done = run(*WAY, program)
            self.assertEqual(done.returncode, 3)
            self.assertIn(f"tulle: warning: run: --pthreads: {program} is linked statically", done.stderr)
            done = run(*WAY, "sh", "-c", "exit 4")
            self.assertEqual((done.returncode, done.stderr), (4, ""))

    @unittest.skipUnless(os.geteuid() == 0, "needs root to give a program the rights of another user")
    def test_a_program_with_the_rights_of_another_user_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            if os.statvfs(folder).f_flag & os.ST_NOSUID or "NoNewPrivs:\t1" in pathlib.Path("/proc/self/status").read_text(encoding="utf-8"):
                self.skipTest("no program gets other rights here")
            program = shutil.copy("/bin/true", folder)
            self.assertEqual(run(*WAY, program).stderr, "")
            for user, group, mode in ((65534, -1, 0o4755), (-1, 65534, 0o2755)):
                os.chown(program, user, group)
                os.chmod(program, mode)
                done = run(*WAY, program)
                self.assertEqual((done.returncode, done.stderr), (0, f"tulle: warning: run: --pthreads: {program} runs with the rights of another user, "
                                                                  "so its threads stay those of the C library\n"))
                self.assertEqual(run("setpriv", "--no-new-privs", *WAY, program).stderr, "")
                os.chown(program, 0, 0)

    def test_a_c_library_that_lacks_something_is_told(self):
        """What tells of it is itself a call that is looked up."""
        done = run(CASES, LD_PRELOAD=f"{library()}:{POOR_LIBC}")
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGABRT, ""), done)
        self.assertIn("tulle: libtulle-preload: this C library has no pthread_join; ", done.stderr)

    def test_without_the_library_it_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "bin"))
            shutil.copy(TULLE, os.path.join(folder, "bin", "tulle"))
            done = run(os.path.join(folder, "bin", "tulle"), "run", "--pthreads", "true")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("libtulle-preload.so", done.stderr)


if __name__ == "__main__":
    unittest.main()
