# SPDX-License-Identifier: Apache-2.0
"""PARMACS programs of which each process has a copy of its own of shared memory, compiled by `tulle cc`, on one host and on the hosts of
scripts/two-hosts: what one stores the others see as they see it in one memory. `python3 coherent_test.py TULLE SOURCES`;
TULLE_TEST_LEVELS=few: with two numbers of processes and sizes of units, where there are more"""
import errno
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

SOURCES = pathlib.Path(sys.argv.pop(2)).resolve()
TULLE = pathlib.Path(sys.argv.pop(1)).resolve()
PROGRAMS = {
    "coherent": ["tests/compiler/coherent.c.in"],
    "objects": ["tests/compat/parmacs/objects.c.in", "tests/compat/parmacs/second_source.c.in"],
    "threads": ["tests/compat/parmacs/threads.c.in"],
    "hosts": ["tests/compat/parmacs/hosts.c.in"],
    "orders": ["tests/compiler/orders.c.in"],
    "pages": ["tests/compiler/pages.c.in"],
    "forks": ["tests/compat/parmacs/forks.c.in"],
    "children": ["tests/compiler/children.c.in"],
    "after_end": ["tests/compiler/after_end.c.in"],
    "ends": ["tests/compiler/ends.c.in"],
    "litmus": ["tests/compiler/litmus.c.in"],
    "turns": ["tests/compiler/turns.c.in"],
    "deaths": ["tests/compiler/deaths.c.in"],
    "molecules": ["tests/compiler/molecules.c.in"],
    "cells": ["tests/compiler/cells.c.in"],
    "static_locals": ["tests/compiler/static_locals.c.in"],
}
MANY_LOCKS = ("molecules", "cells")


sys.path.insert(0, str(SOURCES / "tests/support"))
import mpi  # noqa: E402
import parmacs_programs  # noqa: E402

TWO_HOSTS = SOURCES / "scripts/two-hosts"
CANNOT_BE_MADE = 125
PATIENCE = 400  # seconds: who waits for a lock of another host asks it again and again, which takes long beside busy processes
FEW = os.environ.get("TULLE_TEST_LEVELS") == "few"
REFUSED_CHILD = "tulle: coherent memory: used by the child of a fork, which takes no part in it: let its parent do it\n"


def run(command, **variables):
    return parmacs_programs.run(command, mpi.environment(), PATIENCE, **variables)


def some_of(*ways):
    return (ways[0], ways[-1]) if FEW else ways


class Built:
    """Programs for all tests, each of which is compiled once."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.programs = {}

    def find(self, name, key, build):
        if key not in self.programs:
            folder = pathlib.Path(self.folder.name) / str(len(self.programs))
            folder.mkdir()
            self.programs[key] = build(folder / name)
        return self.programs[key]


BUILT = Built()


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name)

    def build(self, name, *words, compiler=(TULLE, "cc"), more=()):
        return BUILT.find(name, (name, words, compiler, tuple(more)),
                          lambda program: parmacs_programs.build(TULLE, [*compiler, *words], PROGRAMS[name], program, more))

    def expect_result_of_one(self, program, done):
        """Of the program as one process, which has no copies."""
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        alone = run([program, 1])
        self.assertEqual((alone.returncode, alone.stderr), (0, ""))
        self.assertIn("places", alone.stdout)
        self.assertEqual(done.stdout, alone.stdout)

    def build_c(self, name, *words, compiler=(TULLE, "cc")):
        return BUILT.find(name, (name, words, compiler), lambda program: self.build_c_at(program, words, compiler))

    def build_c_at(self, program, words, compiler):
        library = TULLE.parent.parent / "lib"
        include = [f"-I{SOURCES / folder}" for folder in ("include", "tests/support")]
        source = SOURCES / f"tests/compiler/{program.name}.{'cpp' if 'c++' in compiler else 'c'}"
        done = run([*compiler, *words, *include, source, "-o", program, f"-L{library}", "-ltulle", f"-Wl,-rpath,{library}"])
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def build_cxx(self, level, *words):
        """As a program at one address, as the tables of virtual functions have to be."""
        return self.build_c("objects", level, "-std=c++20", "-no-pie", *words, compiler=(TULLE, "c++"))

    def expect_death(self, done, place):
        self.assertRegex(done.stderr, rf"tulle: run: place {place}: ended by signal 9 \(Killed\)(; the others are stopped)?\n")
        self.assertEqual((done.returncode, done.stdout), (128 + signal.SIGKILL, ""))
        self.assertNotIn("it does not wait", done.stderr)


class Private(Programs):
    def passes(self, program, places, **variables):
        done = run([TULLE, "run", "-n", places, "--", program, places], TULLE_COHERENT="private", **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""), (places, variables))

    def test_programs_see_one_memory(self):
        for name in ("coherent", "objects", "threads", "orders"):
            program = self.build(name, "-O2")
            for places, unit in some_of((2, "64"), (2, "256"), (3, "4096"), (4, "1024")):
                with self.subTest(name, places=places, unit=unit):
                    self.passes(program, places, TULLE_COHERENT_UNIT=unit, HAS_SIZES_OF_UNITS="1", **({"TULLE_COHERENT_LARGE_UNIT": "2048"} if unit == "64" else {}))

    def test_without_optimization(self):
        self.passes(self.build("coherent", "-O0"), 2)

    def test_with_copies_that_are_refreshed(self):
        for name in ("coherent", "objects", "threads", "orders"):
            program = self.build(name, "-O2", compiler=(TULLE, "cc", "--scheme=refresh"))
            for places, unit in some_of((2, "64"), (3, "4096"), (4, "256")):
                with self.subTest(name, places=places, unit=unit):
                    self.passes(program, places, TULLE_COHERENT_UNIT=unit)
        self.passes(self.build("threads", "-O1", compiler=(TULLE, "cc", "--scheme=refresh", "--share-globals")), 2)

    def test_by_the_directory(self):
        for name in ("coherent", "objects", "threads", "hosts", "orders"):
            program = self.build(name, "-O2", compiler=(TULLE, "cc", "--scheme=directory"))
            for places in (2, 4):
                with self.subTest(name, places=places):
                    self.passes(program, places)
        self.passes(self.build("threads", "-O1", compiler=(TULLE, "cc", "--scheme=directory", "--share-globals")), 2)

    def test_ends_of_processes_are_meetings(self):
        """The first act of a created process, and the last one."""
        for scheme in ("states", "refresh"):
            program = self.build("ends", "-O2", compiler=(TULLE, "cc", f"--scheme={scheme}"))
            for places, unit in ((2, "64"), (4, "4096")):
                with self.subTest(scheme, places=places, unit=unit):
                    self.passes(program, places, TULLE_COHERENT_UNIT=unit)
        program = self.build("ends", "-O2", compiler=("cc",))
        done = run([TULLE, "run", "-n", 3, "--", program, 3], TULLE_COHERENT="pages")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_locks_order_all_that_they_guard(self):
        for scheme in ("states", "refresh", "directory"):
            program = self.build("litmus", "-O2", compiler=(TULLE, "cc", f"--scheme={scheme}"))
            for unit in ("64", "4096") if scheme == "states" and not FEW else ("1024",):
                with self.subTest(scheme, unit=unit):
                    self.passes(program, 4, TULLE_COHERENT_UNIT=unit)
        program = self.build("litmus", "-O2", compiler=("cc",))
        done = run([TULLE, "run", "-n", 4, "--", program, 4], TULLE_COHERENT="pages")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_nobody_waits_for_a_process_that_has_died(self):
        program = self.build("deaths", "-O1")
        for waits_for in ("lock", "barrier"):
            for who, place in (("created", 1), ("main", 0)):
                with self.subTest(waits_for, who=who):
                    self.expect_death(run([TULLE, "run", "-n", 2, "--", program, waits_for, who], TULLE_COHERENT="private"), place)

    def test_a_lock_for_each_molecule_or_cell(self):
        for scheme in ("states", "refresh", "directory"):
            for name in MANY_LOCKS:
                program = self.build(name, "-O2", compiler=(TULLE, "cc", f"--scheme={scheme}"))
                for places, unit in some_of((2, "64"), (2, "1024"), (3, "256"), (4, "4096")):
                    with self.subTest(scheme, name=name, places=places, unit=unit):
                        done = run([TULLE, "run", "-n", places, "--no-tags", "--", program, places], TULLE_COHERENT="private", TULLE_COHERENT_UNIT=unit)
                        self.expect_result_of_one(program, done)

    def test_that_share_variables(self):
        self.passes(self.build("coherent", "-O2"), 3, TULLE_SHARE_GLOBALS="on")
        self.passes(self.build("threads", "-O2", compiler=(TULLE, "cc", "--share-globals")), 2)

    def test_that_share_very_large_variables(self):
        """As Raytrace of SPLASH has, which could not map its copies."""
        large = self.work / "large.c"
        large.write_text("char tulle_test_large[600 << 20];\n")
        self.passes(self.build("threads", "-O2", compiler=(TULLE, "cc", "--share-globals"), more=[large]), 2)

    def refused(self, program, message, **variables):
        done = run([TULLE, "run", "-n", 2, "--", program, 2], TULLE_COHERENT="private", **variables)
        self.assertEqual(done.returncode, 134, done.stderr)
        self.assertIn(f"tulle: parmacs: MAIN_INITENV: {message}", done.stderr)

    def test_by_the_protection_of_pages(self):
        for name in ("objects", "pages"):
            program = self.build(name, "-O2", compiler=("cc",))
            for places in (2, 4):
                with self.subTest(name, places=places):
                    done = run([TULLE, "run", "-n", places, "--", program, places], TULLE_COHERENT="pages")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_other_faults_end_a_program_with_protected_pages(self):
        done = run([TULLE, "run", "-n", 2, "--", self.build("pages", compiler=("cc",)), 2, "fault"], TULLE_COHERENT="pages")
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV, done.stderr)
        self.assertIn("before the fault\n", done.stderr)

    def child(self, program, action, becomes, **variables):
        with self.subTest(program.name, action=action):
            done = run([TULLE, "run", "-n", 2, "--no-tags", "--", program, action, becomes], **variables)
            self.assertEqual((done.returncode, done.stderr), (0, REFUSED_CHILD if becomes == "refused" else ""))

    def test_children_of_forks_take_no_part(self):
        """Nor do they damage what their parent has; what is their own they may use."""
        everything = {"load", "miss", "store", "add", "copy", "release", "acquire"}
        loads = {"load", "miss", "copy"}  # which have no checks where copies are refreshed
        for scheme, refused in (("states", everything), ("refresh", everything - loads), ("directory", everything - {"load"})):
            program = self.build("children", "-O2", compiler=(TULLE, "cc", f"--scheme={scheme}"))
            for action in sorted(refused):
                self.child(program, action, "refused", TULLE_COHERENT="private")
            self.child(program, "private", "goes-on", TULLE_COHERENT="private")
        program = self.build("children", "-O2", compiler=("cc",))
        for action in ("store", "release", "acquire"):
            self.child(program, action, "refused", TULLE_COHERENT="pages")
        self.child(program, "private", "goes-on", TULLE_COHERENT="pages")

    def test_children_of_forks_share_what_has_no_copies(self):
        for compiler in ((TULLE, "cc"), (TULLE, "cc", "--scheme=directory"), ("cc",)):
            program = self.build("children", "-O2", compiler=compiler)
            for action in ("load", "miss", "store", "copy", "release", "acquire", "private"):
                self.child(program, action, "goes-on")

    def test_what_cannot_be_is_said(self):
        self.refused(self.build("coherent", compiler=("cc",)),
                     "with TULLE_COHERENT=private the program has to be compiled by tulle cc; with TULLE_COHERENT=pages it need not")
        large = self.work / "too_large.c"
        large.write_text("char tulle_test_large[1200u << 20];\n")
        self.refused(self.build("coherent", compiler=(TULLE, "cc", "--share-globals"), more=[large]),
                     "with TULLE_COHERENT=private: variables of the program take more than 1 GiB")
        program = self.build("coherent", "-O2")
        self.refused(program, "TULLE_COHERENT_UNIT or TULLE_COHERENT_LARGE_UNIT is no power of two", TULLE_COHERENT_UNIT="192")
        self.refused(program, "TULLE_COHERENT_UNIT or TULLE_COHERENT_LARGE_UNIT is no power of two", TULLE_COHERENT_LARGE_UNIT="100")
        self.assertEqual(run([program, 2]).returncode, 0)  # without copies


def chosen_seed():
    seed = int(os.environ.get("TULLE_TEST_SEED") or time.time_ns() % 10**9)
    print(f"workers: TULLE_TEST_SEED={seed}", flush=True)
    return seed


class SeveralWorkers(Programs):
    def run_on(self, program, places, *words, **variables):
        return run([TULLE, "run", "-n", places, "--", program, *words], TULLE_COHERENT=variables.pop("TULLE_COHERENT", "private"), **variables)

    def test_threads_of_a_place_see_one_memory(self):
        seed = chosen_seed()
        for name, words in (("O0", ["-O0"]), ("O2", ["-O2"]), ("refresh", ["-O2", "--scheme=refresh"])):
            program = self.build_c("workers", *words)
            for places, threads, unit in some_of((2, 2, "64"), (2, 3, "1024"), (3, 2, "4096")):
                with self.subTest(name, places=places, threads=threads, unit=unit, seed=seed):
                    done = self.run_on(program, places, threads, 15, seed, threads, TULLE_WORKERS=str(threads), TULLE_COHERENT_UNIT=unit)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_registers_are_kept_over_accesses(self):
        for scheme in ("states", "directory"):
            program = self.build_c("kept", "-O2", f"--scheme={scheme}")
            done = self.run_on(program, 2, 3, TULLE_WORKERS="3")
            self.assertEqual((done.returncode, done.stderr), (0, ""), scheme)

    def test_objects_of_cxx(self):
        for words, workers in some_of((["-O0"], 1), (["-O2"], 1), (["-O2", "--scheme=directory"], 2), (["-O2"], 2)):
            with self.subTest(words=words, workers=workers):
                done = self.run_on(self.build_cxx(*words), 2, 3, TULLE_WORKERS=str(workers))
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_input_and_output_of_threads_that_wait(self):
        for scheme in ("states", "refresh", "directory"):
            program = self.build_c("transfers", "-O2", f"--scheme={scheme}")
            for workers, unit in some_of((1, "64"), (1, "4096"), (2, "1024")):
                with self.subTest(scheme, workers=workers, unit=unit):
                    done = self.run_on(program, 2, TULLE_WORKERS=str(workers), TULLE_COHERENT_UNIT=unit)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_threads_of_a_place_see_one_memory_by_pages(self):
        seed = chosen_seed()
        program = self.build_c("workers", "-O2", "-DBY_PAGES", compiler=("cc",))
        for places, threads, workers in some_of((2, 2, 2), (2, 3, 3), (3, 2, 1), (2, 3, 2)):
            with self.subTest(places=places, threads=threads, workers=workers, seed=seed):
                done = self.run_on(program, places, threads, 15, seed, workers, TULLE_WORKERS=str(workers), TULLE_COHERENT="pages")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_threads_of_a_place_see_one_memory_by_the_directory(self):
        seed = chosen_seed()
        for level in ("-O0", "-O2"):
            program = self.build_c("workers", level, "--scheme=directory", "-DBY_DIRECTORY")
            for places, threads, workers in some_of((2, 2, 2), (2, 3, 3), (3, 2, 2), (2, 3, 1)):
                with self.subTest(level, places=places, threads=threads, workers=workers, seed=seed):
                    done = self.run_on(program, places, threads, 15, seed, workers, TULLE_WORKERS=str(workers))
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_some_variables_are_one_memory(self):
        """Those around them stay each place's own."""
        for scheme in ("states", "refresh", "directory"):
            program = self.build_c("adopted", "-O2", "--share-globals", f"--scheme={scheme}")
            for places, unit in ((2, "64"), (3, "4096")):
                with self.subTest(scheme, places=places, unit=unit):
                    done = self.run_on(program, places, TULLE_COHERENT_UNIT=unit)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_some_variables_beside_very_large_ones(self):
        """Behind which the heap of the C library begins, as far as the kernel likes."""
        large = self.work / "large_beside.c"
        large.write_text("char tulle_test_large[600 << 20];\n")
        program = self.build_c("adopted", "-O2", "--share-globals", large)
        for _ in range(3):
            done = self.run_on(program, 2)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_other_faults_end_a_program_with_protected_pages(self):
        program = self.build_c("faults", "-O2", compiler=("cc",))
        for what in ("below", "first", "jump"):
            with self.subTest(what):
                done = self.run_on(program, 2, what, TULLE_WORKERS="2", TULLE_COHERENT="pages")
                self.assertEqual(done.returncode, 128 + signal.SIGSEGV, done.stderr)
                self.assertIn("before the fault\n", done.stderr)

    def test_nobody_may_go_on_without_a_place_that_has_died(self):
        program = self.build_c("workers", "-O1")
        done = self.run_on(program, 2, 1, 1, 1, TULLE_WORKERS="1", TULLE_ON_PLACE_DEATH="throw")
        self.assertEqual(done.returncode, errno.EOPNOTSUPP, done.stderr)


class OverHosts(Programs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = run([TWO_HOSTS, "true"])
        if done.returncode == CANNOT_BE_MADE:
            raise unittest.SkipTest(done.stderr)
        plugins = sorted((TULLE.parent.parent / "lib").glob("libtulle-mpi-*.so"))
        if not plugins:
            raise unittest.SkipTest("there is no MPI")
        cls.flavours = [path.stem.rsplit("-", 1)[1] for path in plugins]

    def on_two(self, program, places, flavour=None, hosts="a,b", processes=None, arguments=(), **variables):
        return self.on([TWO_HOSTS], program, places, flavour, hosts, arguments or [processes or places], variables)

    def on_three(self, program, places, hosts, **variables):
        return self.on([TWO_HOSTS, "--three"], program, places, None, hosts, [places], variables)

    def on(self, maker, program, places, flavour, hosts, arguments, variables):
        words = ["--hosts", hosts, "--mpi", flavour or self.flavours[0], "-n", places]
        return run([*maker, TULLE, "run", *words, "--", program, *arguments], **variables)

    def test_threads_of_a_place_see_one_memory(self):
        """Also those of one worker: while one waits for the other host the others run."""
        seed = chosen_seed()
        for name, words in (("O0", ["-O0"]), ("O2", ["-O2"]), ("refresh", ["-O2", "--scheme=refresh"])):
            program = self.build_c("workers", *words)
            for places, threads, workers, unit in some_of((2, 2, 2, "64"), (2, 3, 1, "1024"), (3, 2, 1, "256")):
                with self.subTest(name, places=places, threads=threads, workers=workers, unit=unit, seed=seed):
                    done = self.on_two(program, places, arguments=[threads, 2, seed, workers],
                                       TULLE_WORKERS=str(workers), TULLE_COHERENT_UNIT=unit)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_registers_are_kept_over_accesses(self):
        for words, workers in some_of((["-O2"], 1), (["-O2", "--scheme=refresh"], 1), (["-O2"], 2)):
            program = self.build_c("kept", *words)
            with self.subTest(words=words, workers=workers):
                done = self.on_two(program, 2, arguments=[2], TULLE_WORKERS=str(workers))
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_objects_of_cxx(self):
        for level, workers in (("-O0", 1), ("-O2", 2)):
            with self.subTest(level, workers=workers):
                done = self.on_two(self.build_cxx(level), 2, arguments=[3], TULLE_WORKERS=str(workers))
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_ends_of_processes_are_meetings(self):
        for scheme, places in (("states", 4), ("refresh", 3)):
            program = self.build("ends", "-O2", compiler=(TULLE, "cc", f"--scheme={scheme}"))
            with self.subTest(scheme, places=places):
                done = self.on_two(program, places)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_locks_order_all_that_they_guard(self):
        """Also those that stay with a host."""
        for scheme, places, threshold in some_of(("states", 4, "16"), ("states", 2, "0"), ("refresh", 4, "0")):
            program = self.build("litmus", "-O2", compiler=(TULLE, "cc", f"--scheme={scheme}"))
            with self.subTest(scheme, places=places, threshold=threshold):
                done = self.on_two(program, places, arguments=[places, 18], TULLE_LOCK_THRESHOLD=threshold)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_nobody_waits_for_a_process_that_has_died(self):
        program = self.build("deaths", "-O1")
        for waits_for, who, place in (("miss", "created", 1), ("miss", "main", 0), ("lock", "created", 1), ("barrier", "main", 0)):
            with self.subTest(waits_for, who=who):
                self.expect_death(self.on_two(program, 2, arguments=[waits_for, who]), place)

    def test_a_host_has_as_many_turns_with_a_lock_as_the_settings_say(self):
        """While another one waits; at once it gets a lock that goes home with each unlock."""
        program = self.build("turns", "-O1")
        never = "2147483647"
        for contenders in "ab":  # the first one is the home
            for who_unlocks, threshold, turns, expected in some_of(("own", "0", 7, 7), ("own", never, 7, 1), ("others", "0", 3, 3)):
                with self.subTest(contenders, who_unlocks=who_unlocks, threshold=threshold, turns=turns):
                    done = self.on_two(program, 4, hosts="a:2,b:2", arguments=[contenders, who_unlocks],
                                       TULLE_LOCK_THRESHOLD=threshold, TULLE_LOCK_TURNS=str(turns))
                    self.assertEqual((done.returncode, done.stdout), (0, f"{expected}\n"), done.stderr)

    def test_others_run_while_a_thread_waits_for_another_host(self):
        program = self.build_c("misses", "-O2")
        for flavour in self.flavours:
            with self.subTest(flavour):
                done = self.on_two(program, 2, flavour, TULLE_WORKERS="1", TULLE_MAX_SUBSTITUTES="off")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_children_want_what_their_parent_waits_for(self):
        """Where stacks are short they may run on its stack, before it goes on."""
        program = self.build_c("misses", "-O2")
        for stacks in ("auto", "3"):
            with self.subTest(stacks):
                done = self.on_two(program, 2, arguments=["children"], TULLE_WORKERS="1", TULLE_MAX_STACKS=stacks)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_two_threads_want_the_same(self):
        """Where stacks are short one of them may let nobody run while it waits."""
        program = self.build_c("misses", "-O2")
        for stacks in ("auto", "4", "3"):
            with self.subTest(stacks):
                done = self.on_two(program, 2, arguments=["both"], TULLE_WORKERS="1", TULLE_MAX_STACKS=stacks)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_some_variables_are_one_memory(self):
        program = self.build_c("adopted", "-O2", "--share-globals")
        for unit in ("64", "4096"):
            with self.subTest(unit=unit):
                done = self.on_two(program, 3, arguments=[], TULLE_COHERENT_UNIT=unit)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_threads_of_a_place_see_one_memory_by_pages(self):
        seed = chosen_seed()
        program = self.build_c("workers", "-O2", "-DBY_PAGES", compiler=("cc",))
        for places, threads, workers in some_of((2, 3, 1), (2, 2, 2), (3, 2, 2)):
            with self.subTest(places=places, threads=threads, workers=workers, seed=seed):
                done = self.on_two(program, places, arguments=[threads, 2, seed, workers], TULLE_WORKERS=str(workers), TULLE_COHERENT="pages")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_programs_see_one_memory(self):
        for name in ("coherent", "objects", "orders"):
            program = self.build(name, "-O2")
            for places, unit in some_of((2, "64"), (3, "4096"), (4, "256")):
                with self.subTest(name, places=places, unit=unit):
                    done = self.on_two(program, places, TULLE_COHERENT_UNIT=unit)
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_lock_for_each_molecule_or_cell(self):
        for name in MANY_LOCKS:
            for scheme, *ways in (("states", (2, "a,b"), (4, "a:2,b:2")), ("refresh", (4, "a:2,b:2")))[:1 if FEW else 2]:
                program = self.build(name, "-O2", compiler=(TULLE, "cc", f"--scheme={scheme}"))
                for places, hosts in ways:
                    with self.subTest(name, scheme=scheme, places=places):
                        self.expect_result_of_one(program, self.on_two(program, places, hosts=hosts))

    def test_locks_stay_with_a_host_or_go_home(self):
        program = self.build("coherent", "-O2")
        for threshold, turns in ((0, 1), (0, 100000), (2147483647, 1)):
            with self.subTest(threshold=threshold, turns=turns):
                done = self.on_two(program, 4, TULLE_LOCK_THRESHOLD=str(threshold), TULLE_LOCK_TURNS=str(turns))
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_locks_go_from_host_to_host(self):
        """From one host to another one of which neither is the home, by its second process too."""
        done = self.on_three(self.build("coherent", "-O2"), 4, hosts="a:2,b:1,c:1", TULLE_LOCK_THRESHOLD="0", TULLE_LOCK_TURNS="100000")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_options_of_locks_have_to_make_sense(self):
        program = self.build("coherent", "-O2")
        for name, value in (("TULLE_LOCK_THRESHOLD", "-1"), ("TULLE_LOCK_TURNS", "0"), ("TULLE_LOCK_TURNS", "many")):
            done = self.on_two(program, 2, **{name: value})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"tulle: parmacs: {name}={value}: set it to a number from", done.stderr)

    def test_processes_are_created_on_each_host_in_turn(self):
        program = self.build("hosts", "-O1")
        for hosts, expected in (("a:3,b:2", "a b a b a"), ("a:2,b:3", "a b a b b"), ("a:4,b:1", "a b a a a")):
            done = self.on_two(program, 5, hosts=hosts)
            self.assertEqual((done.returncode, done.stdout.split()), (0, expected.split()), (hosts, done.stderr))

    def test_more_processes_than_were_started_are_refused(self):
        done = self.on_two(self.build("hosts", "-O1"), 2, processes=3)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("CREATE: all 2 processes of the program run already, and on several hosts none can be added", done.stderr)

    def test_variables_are_one_memory_too(self):
        """Each process counts in variables that all take for theirs."""
        program = self.build("threads", "-O2", compiler=(TULLE, "cc", "--share-globals"))
        for flavour in self.flavours:  # UCX, below MPICH, puts functions of its own in place of the C library's that map memory
            for places in (2, 4):
                with self.subTest(flavour, places=places):
                    done = self.on_two(program, places, flavour)
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_static_variables_of_functions_are_constructed_once(self):
        for scheme in ("states", "refresh"):
            program = self.build("static_locals", "-O2", "-x", "c++", compiler=(TULLE, "c++", f"--scheme={scheme}", "--share-globals"))
            for places in some_of(2, 4):
                with self.subTest(scheme, places=places):
                    done = self.on_two(program, places)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_variables_cannot_be_shared_by_a_program_that_was_not_made_for_it(self):
        done = self.on_two(self.build("coherent", "-O2"), 2, TULLE_SHARE_GLOBALS="on")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("only if the program was compiled and linked by tulle cc --share-globals", done.stderr)

    def test_copies_are_refreshed(self):
        program = self.build("coherent", "-O2", compiler=(TULLE, "cc", "--scheme=refresh"))
        for places in (2, 4):
            done = self.on_two(program, places)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_by_the_protection_of_pages(self):
        programs = [self.build(name, "-O2", compiler=("cc",)) for name in ("objects", "pages")]
        for flavour in self.flavours:
            for program, places in zip(programs, (2, 4)):
                with self.subTest(flavour, places=places):
                    done = self.on_two(program, places, flavour, TULLE_COHERENT="pages")
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_child_of_a_fork_takes_no_part(self):
        done = self.on_two(self.build("forks", "-O1"), 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("tulle: parmacs: LOCK: by the child of a fork, which takes no part in what processes of the program do"), 2)

    def test_the_child_of_a_fork_does_not_use_the_memory(self):
        """It would take what its parent is sent."""
        program = self.build("children", "-O2")
        for action in ("load", "miss", "store", "add", "copy"):
            with self.subTest(action):
                done = self.on_two(program, 2, arguments=[action, "refused"])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr.count(REFUSED_CHILD), 1, done.stderr)

    def test_memory_is_used_before_the_run_time_ends(self):
        """What the process has it may still load."""
        program = self.build("after_end", "-O2")
        for action in ("load", "store", "add", "volatile", "release"):
            with self.subTest(action):
                done = self.on_two(program, 2, arguments=[action])
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, "the end\n(.*\n)*.*tulle: coherent memory: used after the run time has ended")
        done = self.on_two(program, 2, arguments=["known"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_directory_is_for_one_host(self):
        done = self.on_two(self.build("objects", "-O1", compiler=(TULLE, "cc", "--scheme=directory")), 2)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("was compiled with --scheme=directory, by which processes reach each other's copies", done.stderr)

    def test_a_program_without_checks_is_refused(self):
        done = self.on_two(self.build("objects", compiler=("cc",)), 2)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("tulle: parmacs: MAIN_INITENV: on several hosts the program has to be compiled by tulle cc", done.stderr)


unittest.main()
