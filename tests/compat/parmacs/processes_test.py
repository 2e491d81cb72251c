# SPDX-License-Identifier: Apache-2.0
"""Programs with PARMACS macros: mistakes and deaths end them with a message, and addresses are compared. Arguments: the paths of the program `tulle`, of the
folder of the programs, and whether this machine chooses addresses at random (0: a sanitizer does not let it)."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

RANDOM = sys.argv.pop() == "1"
FOLDER = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
PATIENCE = 60  # seconds, for what must not hang


def program(name):
    return os.path.join(FOLDER, f"parmacs-{name}")


def run(*words, variables=None):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False, env={**kept, **(variables or {})})
    return done.returncode, done.stdout, done.stderr


def run_places(count, name, *words, **more):
    return run(TULLE, "run", "-n", str(count), "--", program(name), *words, **more)


class Mistakes(unittest.TestCase):
    def fails(self, what, message, places=2, code=134, **more):
        found, _, err = run_places(places, "mistakes", what, **more)
        self.assertIn(message, err, what)
        self.assertEqual(found, code, (what, err))

    def test_none(self):
        self.assertEqual(run_places(2, "mistakes"), (0, "", ""))

    def test_before_the_environment(self):
        for what, macro in (("early-create", "CREATE"), ("early-lock", "LOCK")):
            found, _, err = run(program("mistakes"), what)
            self.assertIn(f"tulle: parmacs: {macro}: before MAIN_INITENV", err)
            self.assertNotEqual(found, 0)

    def test_of_create(self):
        self.fails("null", "CREATE: no function")
        self.fails("library", "CREATE: the function is not in the program itself")
        few = {"TULLE_PARMACS_PROCESSES": "2"}
        self.fails("too-many", "CREATE: all 2 processes of the program run already: start it with more, tulle run -n 3 PROG", variables=few)
        self.fails("null-of-two", "CREATE: no function")
        self.fails("none", "CREATE: of 0 processes")
        self.fails("too-many-of-all", "CREATE: all 2 processes of the program run already: start it with more, tulle run -n 3 PROG", variables=few)
        self.fails("twice", "MAIN_INITENV: for the second time")

    def test_there_is_no_program_that_starts_processes(self):
        """Neither beside the library nor in the PATH."""
        with tempfile.TemporaryDirectory() as folder:
            alone = os.path.join(folder, "lib")
            os.mkdir(alone)
            for name, path in re.findall(r"(libtulle\S*) => (\S+)", run("ldd", program("mistakes"))[1]):
                os.symlink(path, os.path.join(alone, name))
            found, _, err = run(program("mistakes"), "too-many", variables={"LD_LIBRARY_PATH": alone, "PATH": folder})
        self.assertIn("CREATE: there is one process, as the program tulle, which starts more, cannot be run (No such file or directory)", err)
        self.assertEqual(found, -6)

    def test_of_waiting(self):
        self.fails("waits-too-much", "WAIT_FOR_END: of 2 processes, but 0 were created and not waited for")
        self.fails("waits-for-all", "WAIT_FOR_END: of 3 processes, but 1 were created and not waited for")
        self.fails("not-waited-for", "MAIN_END: nobody has waited for 1 created processes")
        self.fails("ends-all", "MAIN_END: only main may end the program, and this is process 1")
        self.fails("does-not-wait", "a created process has ended without WAIT_FOR_END for 1 that it has created", places=3)

    def test_of_objects(self):
        self.fails("no-lock", "LOCK: of something that has not been initialised")
        self.fails("wrong-kind", "BARRIER: of something that has not been initialised")
        self.fails("free-lock", "UNLOCK: nobody holds it")
        self.fails("free-twice", "G_FREE: Invalid argument")
        self.fails("no-condition", "CONDVARWAIT: of something that has not been initialised")
        self.fails("no-lock-of-condition", "CONDVARWAIT: nobody holds the lock")
        self.fails("nobody", "BARRIER: of 0 processes")

    def test_more_memory_than_there_is(self):
        found, _, err = run_places(2, "mistakes", "much-memory")
        self.assertEqual(found, 7, err)
        self.assertRegex(err, r"tulle: parmacs: G_MALLOC: there is no shared memory for 1125899906842624 bytes beside \d+ that are in use: "
                              r"set TULLE_GLOBAL_MEMORY=1048578G or more")

    def test_addresses_below_4_gib(self):
        for name in ("mistakes", "threads_fixed"):
            code, word = (7, "low") if name == "mistakes" else (0, "2")
            found, _, err = run_places(2, name, word, variables={"TULLE_GLOBAL_LOW": "1"})
            self.assertEqual((found, err), (code, ""), name)
        self.assertEqual(run_places(2, "mistakes", "low")[0], 1)
        found, _, err = run_places(2, "mistakes", variables={"TULLE_GLOBAL_LOW": "1", "TULLE_GLOBAL_MEMORY": "4G"})
        self.assertIn("MAIN_INITENV: no global memory: Cannot allocate memory", err)
        self.assertNotEqual(found, 0)


class More(unittest.TestCase):
    """Processes than places were started."""

    def test_as_many_as_the_program_creates(self):
        for words in (["run", "-n", "1", "--"], ["run", "-n", "3", "--no-tags", "--"]):
            self.assertEqual(run(TULLE, *words, program("many"), "33"), (0, "", ""), words)
        self.assertEqual(run(program("many"), "33"), (0, "", ""))

    def test_how_many_there_may_be(self):
        self.assertEqual(run(TULLE, "run", "-n", "2", "--", program("many"), "70", variables={"TULLE_PARMACS_PROCESSES": "70"}), (0, "", ""))
        found, _, err = run_places(1, "many", "70")
        self.assertIn("CREATE: all 64 processes of the program run already: set TULLE_PARMACS_PROCESSES=65 or more", err)
        self.assertEqual(found, 134)
        few = {"TULLE_GLOBAL_GROUP": "1"}  # memory of each place is managed by that place, so it must be there
        found, _, err = run_places(3, "many", "4", variables=few)
        self.assertIn("CREATE: all 3 processes of the program run already: start it with more, tulle run -n 4 PROG", err)
        self.assertEqual(found, 134)
        for wrong in ("0", "1025", "many", ""):
            found, _, err = run_places(1, "many", "2", variables={"TULLE_PARMACS_PROCESSES": wrong})
            self.assertIn(f"start: TULLE_PARMACS_PROCESSES is '{wrong}', which is no number from 1 to 1024", err)
            self.assertEqual(found, 134)

    def test_share_variables_that_are_shared(self):
        for words in (["-n", "1"], ["-n", "2", "--share-globals"]):
            self.assertEqual(run(TULLE, "run", *words, "--no-tags", "--", program("threads"), "6"), (0, "process 5 of 6\n", ""), words)

    def test_that_die_end_the_program(self):
        found, _, err = run_places(2, "many", "6", "dies")
        self.assertIn("tulle: run: place 5: ended by signal 9", err)
        self.assertEqual(found, 137)


class Variables(unittest.TestCase):
    """The dialect of programs for threads, which share variables unless they are told not to."""

    def test_are_shared_if_asked(self):
        for name in ("threads", "threads_lazy", "threads_fixed"):
            found, out, err = run(TULLE, "run", "-n", "4", "--share-globals", "--no-tags", "--", program(name), "4")
            self.assertEqual((found, out, err), (0, "process 3 of 4\n", ""), name)

    def test_are_not_shared_if_forbidden(self):
        found, _, err = run_places(2, "threads", "2", variables={"TULLE_SHARE_GLOBALS": "off"})
        self.assertRegex(err, "sum ==|drawn ==")
        self.assertNotEqual(found, 0)

    def test_need_memory(self):
        little = {"TULLE_GLOBAL_MEMORY": "256K", "TULLE_PARMACS_PROCESSES": "2"}
        found, _, err = run_places(2, "threads", "2", variables=little)
        self.assertIn("CREATE: the processes cannot share variables: there is no global memory for", err)
        self.assertIn("set TULLE_GLOBAL_MEMORY", err)
        self.assertNotEqual(found, 0)

    @unittest.skipUnless(RANDOM, "addresses are not random")
    def test_need_the_same_addresses(self):
        found, _, err = run(program("refuse_personality"), TULLE, "run", "-n", "2", "--", program("threads_fixed"), "2")
        self.assertIn("CREATE: the processes cannot share variables: place 1 has the program or a library at another address", err)
        self.assertNotEqual(found, 0)


class Deaths(unittest.TestCase):
    """A process that dies while others wait, which nobody survives."""

    def dies(self, what, how, code, **more):
        found, _, err = run_places(2, "mistakes", what, **more)
        self.assertIn(f"tulle: run: place 1: {how}", err)
        self.assertEqual(found, code, err)

    def test_by_a_signal(self):
        for variables in (None, {"TULLE_ON_PLACE_DEATH": "throw"}):
            self.dies("killed", "ended by signal 9", 137, variables=variables)
            self.dies("holds", "ended by signal 9", 137, variables=variables)
            self.dies("aborts", "ended by signal 6", 134, variables=variables)

    def test_by_exit(self):
        self.dies("exits", "exit code 3", 3)
        self.dies("exits-well", "exit code 0", 1)


class Forks(unittest.TestCase):
    def test_children_use_no_macros(self):
        """They would take wake-ups that are for their parents."""
        found, _, err = run_places(2, "forks", "2")
        self.assertEqual(found, 0, err)
        message = "tulle: parmacs: LOCK: by the child of a fork, which takes no part in what processes of the program do: let its parent do it"
        self.assertEqual(err.count(message), 2, err)


class Addresses(unittest.TestCase):
    def test_static_libraries_are_refused(self):
        found, _, err = run(program("static"), "1")
        self.assertIn("MAIN_INITENV: the program is linked with static libraries of Tulle", err)
        self.assertNotEqual(found, 0)

    @unittest.skipUnless(RANDOM, "addresses are not random")
    def test_that_the_system_chooses_at_random(self):
        refusing = program("refuse_personality")
        for _ in range(3):
            found, _, err = run(refusing, TULLE, "run", "-n", "2", "--", program("variables"), "2", "apart")
            self.assertIn("MAIN_INITENV: the program is at address 0x", err)
            self.assertIn("link it with -no-pie", err)
            self.assertNotEqual(found, 0)
            found, out, err = run(refusing, TULLE, "run", "-n", "2", "--tags", "none", "--", program("variables_fixed"), "2", "apart")
            self.assertEqual((found, err), (0, ""))
            self.assertEqual(out.count("created process"), 6)

    def test_travel_though_what_is_sent_is_searched_for_addresses(self):
        found, _, err = run_places(2, "variables", "2", variables={"TULLE_CHECK": "1"})
        self.assertEqual((found, err), (0, ""))

    def test_without_a_launcher(self):
        found, out, err = run(program("variables"), str(max(len(os.sched_getaffinity(0)), 2)))
        self.assertEqual((found, err), (0, ""))
        self.assertEqual(out, "".join(f"created process {k}\nby a pointer\n" for k in range(6)))


if __name__ == "__main__":
    unittest.main()
