# SPDX-License-Identifier: Apache-2.0
"""The program `tulle`: help, version, info, run, and what it says of wrong usage. Argument: the path of the program."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
COMMANDS = ("info", "bench", "run", "ps", "cpus", "cc", "c++")
OPTIONS = {"workers", "max_workers", "stack_size", "guard", "shepherds", "spin_us", "seed", "max_stacks", "max_unstarted", "deadlock", "deadlock_ms", "stack_report", "explain",
           "global_memory", "global_group", "global_algorithm", "global_report", "global_low", "share_globals", "coherent", "coherent_unit", "coherent_large_unit", "race_reports", "race_exit_code", "on_place_death", "reserve_cpu", "check",
           "share_cpus", "start_timeout", "host_timeout", "memory_places", "io"}


def tulle(*words, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60, env={**kept, **variables})


class Usage(unittest.TestCase):
    def refused(self, words, complaint, code=2, **variables):
        done = tulle(*words, **variables)
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("tulle: "), done.stderr)
        self.assertIn(complaint, done.stderr)

    def test_help_names_the_commands(self):
        done = tulle("--help")
        self.assertEqual(done.returncode, 0)
        for command in (*COMMANDS, "help"):
            self.assertRegex(done.stdout, rf"(?m)^\s+{re.escape(command)}\s")

    def test_each_command_has_help(self):
        for command, option in (("info", "--json"), ("bench", "--html"), ("run", "--stack-size"), ("run", "--explore"), ("ps", "PID"),
                                ("cpus", "--json"), ("run", "--share-cpus"), ("run", "--memory-places"), ("bench", "--paper")):
            done = tulle(command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn(option, done.stdout)

    def test_version(self):
        done = tulle("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"\Atulle \d+\.\d+\.\d+\n\Z")

    def test_no_command(self):
        self.refused([], "which command? `tulle --help` names them")

    def test_help_is_a_command(self):
        self.assertEqual(tulle("help").stdout, tulle("--help").stdout)
        for command in COMMANDS:
            done = tulle("help", command)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, tulle(command, "--help").stdout, ""))

    def test_unknown_command(self):
        for words in (["blah"], ["blah", "--help"], ["blah", "run"], ["blah", "run", "true"]):
            self.refused(words, "tulle: there is no command 'blah'; `tulle --help` names them all\n")
        self.refused(["help", "blah"], "tulle: help: there is no command 'blah'; `tulle --help` names them all\n")
        for word, meant in (("rnu", "run"), ("runn", "run"), ("inof", "info"), ("cpu", "cpus"), ("benhc", "bench"), ("hlep", "help")):
            for words in ([word], [word, "-n", "2"], [word, "--help"], ["help", word]):
                self.refused(words, f"there is no command '{word}'; did you mean '{meant}'? `tulle --help` names them all\n")

    def test_unknown_option(self):
        self.refused(["info", "--blah"], "tulle: info: there is no option '--blah'; `tulle info --help` names them all\n")
        self.refused(["--verison"], "tulle: there is no option '--verison'; did you mean '--version'? `tulle --help` names them all\n")
        for words, wrong, meant in ((["run", "--wrokers"], "--wrokers", "--workers"), (["run", "--wrokers=2", "true"], "--wrokers", "--workers"),
                                    (["run", "--wrokers", "2", "--", "true"], "--wrokers", "--workers"), (["run", "-workers", "true"], "-workers", "--workers"),
                                    (["run", "--n", "2", "true"], "--n", "-n"), (["run", "-n", "2", "--stacksize=1M"], "--stacksize", "--stack-size"),
                                    (["bench", "--qick"], "--qick", "--quick"), (["cpus", "--jsno"], "--jsno", "--json")):
            self.refused(words, f"tulle: {words[0]}: there is no option '{wrong}'; did you mean '{meant}'? `tulle {words[0]} --help` names them all\n")
        self.refused(["run", "--place-of-jbo=none", "true"], "there is no option '--place-of-jbo'; `tulle")  # its like is none of the user's

    def test_words_too_many(self):
        self.refused(["info", "run"], "tulle: info: 'run' is a word too many; `tulle info --help` says what it takes\n")
        self.refused(["ps", "1", "2"], "tulle: ps: '2' is a word too many")
        self.refused(["help", "run", "bench"], "tulle: help: 'bench' is a word too many")

    def test_unknown_words_of_options(self):
        self.refused(["run", "--set", "wrokers=2", "true"], "there is no option 'wrokers'; did you mean 'workers'? `tulle info` lists them")
        self.refused(["run", "--tags", "oters", "true"], "--tags: 'oters' is none of others, all, none; did you mean 'others'?\n")
        self.refused(["cc", "--scheme", "staets", "a.c"], "--scheme: 'staets' is none of states, refresh, directory, races; did you mean 'states'?\n")
        self.refused(["bench", "mutx"], "tulle: bench: there is no benchmark 'mutx'; did you mean 'mutex'? `tulle bench --list` names them all\n")

    def test_environment_that_makes_no_sense(self):
        self.refused(["info"], "tulle: TULLE_WORKERS: option workers: 'many' is not a number from 0 to 4096 or auto\n", TULLE_WORKERS="many")
        self.refused(["run", "true"], "option guard: 'x' is none of auto|install|mprotect|none\nTULLE_SPIN_US: ", TULLE_GUARD="x", TULLE_SPIN_US="y")

    def test_a_variable_whose_name_is_misspelt(self):
        done = tulle("info", TULLE_WORKRES="1")
        self.assertEqual((done.returncode, done.stderr), (0, "tulle: warning: TULLE_WORKRES is no option; is TULLE_WORKERS meant?\n"))


class MoreRights(unittest.TestCase):
    @unittest.skipUnless(os.geteuid() == 0, "needs root to give a program the rights of another user")
    def test_the_environment_decides_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            program = shutil.copy(PROGRAM, folder)
            os.chown(program, 65534, -1)
            os.chmod(program, 0o4755)
            done = subprocess.run([program, "info", "--json"], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "TULLE_STACK_SIZE": "1M"})
            # One that looks for leaks cannot do so in such a program.
            self.assertTrue(done.returncode == 0 or "LeakSanitizer has encountered a fatal error" in done.stderr, done)
            row = next(row for row in json.loads(done.stdout)["options"] if row["name"] == "stack_size")
            self.assertEqual(row["source"], "default")


class Output(unittest.TestCase):
    def test_that_cannot_be_written_is_an_error(self):
        for words in (["info"], ["info", "--json"], ["bench", "--list"], ["--help"], ["--version"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1, words)
            self.assertTrue(done.stderr.startswith("tulle: cannot write to standard output"), done.stderr)


@unittest.skipIf(shutil.which("bash") is None, "no bash")
class Completion(unittest.TestCase):
    def test_help_is_for_each_command(self):
        completions = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/completions/tulle.bash")
        for words, expected in (("tulle hel", "help"), ("tulle help be", "bench"), ("tulle help c", "cpus cc c++")):
            done = subprocess.run(["bash", "-c", f"source {completions}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _tulle; echo ${{COMPREPLY[@]}}"],
                                  capture_output=True, text=True, timeout=60, check=True)
            self.assertEqual(done.stdout, expected + "\n")

    def test_names_of_processes_are_not_run(self):
        completions = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/completions/tulle.bash")
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "tulle")
            with open(program, "wb") as file:
                file.write(b"#!/bin/sh\nprintf '    4711  sh \\377 $(touch %s/run)\\n    4712  x\\n$(touch %s/run)\\n'\n"
                           % (folder.encode(), folder.encode()))
            os.chmod(program, 0o755)
            done = subprocess.run(["bash", "-c", f"source {completions}; COMP_WORDS=({program} ps 4); COMP_CWORD=2; _tulle; echo ${{COMPREPLY[@]}}"],
                                  capture_output=True, text=True, timeout=60, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
            self.assertEqual((done.stdout, os.listdir(folder)), ("4711 4712\n", ["tulle"]))


class Info(unittest.TestCase):
    def info(self, **variables):
        done = tulle("info", "--json", **variables)
        self.assertEqual(done.returncode, 0, done)
        return json.loads(done.stdout)

    def option(self, name, **variables):
        return next(row for row in self.info(**variables)["options"] if row["name"] == name)

    def test_schema(self):
        found = self.info()
        kinds = {"version": str, "machine": str, "cpus": int, "quota": (int, float, type(None)), "shepherds": list,
                 "workers": int, "max_workers": int, "guard": str, "membarrier": bool, "max_substitutes": int,
                 "names_system_calls": bool, "context": str, "io": (str, type(None)), "options": list}
        self.assertEqual(set(found), set(kinds))
        for key, kind in kinds.items():
            self.assertIsInstance(found[key], kind, key)
        for row in found["options"]:
            self.assertEqual(set(row), {"name", "value", "default", "unit", "source", "variable", "description"})

    def test_every_option_is_shown_with_its_default(self):
        rows = {row["name"]: row for row in self.info()["options"]}
        self.assertLessEqual(OPTIONS, set(rows))
        for row in rows.values():
            self.assertEqual(row["value"], row["default"])
            self.assertEqual(row["source"], "default")

    def test_processors_are_those_of_the_affinity_mask(self):
        allowed = os.sched_getaffinity(0)
        found = self.info()
        self.assertEqual(found["cpus"], len(allowed))
        listed = [cpu for shepherd in found["shepherds"] for cpu in shepherd["cpus"]]
        self.assertEqual(sorted(listed), sorted(allowed))

    def test_an_option_of_the_environment_says_so(self):
        row = self.option("workers", TULLE_WORKERS="3")
        self.assertEqual((row["value"], row["source"]), ("3", "environment"))
        self.assertEqual(self.info(TULLE_WORKERS="3")["workers"], 3)

    def test_a_seed_means_one_worker(self):
        self.assertEqual(self.option("seed")["value"], "off")
        self.assertEqual(self.option("seed", TULLE_SEED="5")["value"], "5")
        self.assertEqual(self.info(TULLE_WORKERS="3", TULLE_SEED="5")["workers"], 1)

    def test_a_kept_processor_and_the_number_of_shepherds(self):
        allowed = len(os.sched_getaffinity(0))
        self.assertEqual(len(self.info(TULLE_SHEPHERDS="3")["shepherds"]), 3)
        if allowed > 1:
            self.assertEqual(self.info(TULLE_RESERVE_CPU="1")["cpus"], allowed - 1)

    def test_text_shows_the_same(self):
        text = tulle("info").stdout
        for name in OPTIONS | {"membarrier", "stack guards", "quota", "watcher"}:
            self.assertIn(name, text)


class Run(unittest.TestCase):
    def echo(self, *options):
        done = tulle("run", *options, "--", "sh", "-c", "echo $TULLE_WORKERS,$TULLE_STACK_SIZE,$TULLE_GUARD")
        self.assertEqual(done.returncode, 0, done)
        return done.stdout.strip()

    def test_options_reach_the_program(self):
        self.assertEqual(self.echo(), ",,")
        self.assertEqual(self.echo("--workers", "3"), "3,,")
        done = tulle("run", "--stack-report", "--explain", "--check", "--", "sh", "-c", "echo $TULLE_STACK_REPORT $TULLE_EXPLAIN $TULLE_CHECK")
        self.assertEqual(done.stdout, "1 1 1\n")
        self.assertEqual(self.echo("--stack-size", "64K", "--set", "guard=none", "--set", "workers=2"), "2,64K,none")

    def test_the_library_takes_what_run_hands_over(self):
        done = tulle("run", "--workers", "3", "--", PROGRAM, "info", "--json")
        self.assertEqual(json.loads(done.stdout)["workers"], 3)

    def test_exit_code_passes_through(self):
        for code in (0, 1, 7, 255):
            self.assertEqual(tulle("run", "sh", "-c", f"exit {code}").returncode, code)

    def test_a_signal_passes_through(self):
        self.assertEqual(tulle("run", "sh", "-c", "kill -TERM $$").returncode, -15)

    def test_options_after_the_program_are_its_own(self):
        done = tulle("run", "echo", "--workers", "2", "--", "x")
        self.assertEqual(done.stdout, "--workers 2 -- x\n")

    def test_missing_program(self):
        done = tulle("run", "/nowhere/to/be/found")
        self.assertEqual(done.returncode, 127)
        self.assertIn("tulle: run: cannot run '/nowhere/to/be/found': No such file or directory", done.stderr)

    def test_a_folder_of_the_path_that_cannot_be_searched(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            closed = os.path.join(folder, "closed")
            os.mkdir(closed, 0)
            somebody = {"user": 65534} if os.geteuid() == 0 else {}  # root may search all
            done = subprocess.run([shutil.copy(PROGRAM, folder), "run", "--explore", "1", "true"], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "PATH": f"{closed}:/usr/bin:/bin"}, **somebody)
            self.assertEqual((done.returncode, done.stderr), (0, "tulle: seeds 1 to 1 passed\n"))

    def test_file_that_is_no_program(self):
        done = tulle("run", "/")
        self.assertEqual(done.returncode, 126)
        self.assertIn("tulle: run: cannot run '/': Permission denied", done.stderr)

    def test_wrong_usage(self):
        for words, complaint in ((["--set", "colour=red", "true"], "there is no option 'colour'"),
                                 (["--set", "workers", "true"], "'workers' is not of the form option=value"), (["--blah", "true"], "--blah"),
                                 ([], "PROG"), (["--workers", "2"], "PROG")):
            done = tulle("run", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(complaint, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_more_workers_than_there_may_be(self):
        done = tulle("run", "--workers", "4", "true", TULLE_MAX_WORKERS="2")
        self.assertEqual((done.returncode, done.stderr), (2, "tulle: run: workers is 4, and max_workers 2: raise the second, or leave it out\n"))
        for words in (["--workers", "2"], ["--workers", "4", "--seed", "1"], ["--workers", "auto"]):
            self.assertEqual(tulle("run", *words, "true", TULLE_MAX_WORKERS="2").returncode, 0, words)

    def refuses(self, option, value, sentence):
        with tempfile.TemporaryDirectory() as folder:
            mark = os.path.join(folder, "ran")
            for words in ([option, value], [f"{option}={value}"]):
                if not option.startswith("--") and words == [f"{option}={value}"]:
                    words = [option + value]
                for rest in (["touch", mark], ["--", "touch", mark], []):
                    done = tulle("run", *words, *rest)
                    self.assertEqual((done.returncode, done.stdout, os.listdir(folder)), (2, "", []), (words, rest))
                    self.assertTrue(done.stderr.startswith(f"tulle: {sentence}"), done.stderr)

    def test_values_are_checked_before_anything_runs(self):
        for option in ("--workers", "--seed", "--memory-places"):
            for wrong in ("x", "-1", "2x", "1.5", "0x10", "99999999999999999999"):
                self.refuses(option, wrong, f"{option}: '{wrong}' is not a number from 0 to ")
        for option in ("--places", "--grace", "--explore", "--time-limit"):
            for wrong in ("x", "-1", "2x", "1.5", "0x10", "010", "99999999999999999999"):
                self.refuses(option, wrong, f"{option}: '{wrong}' is not a number from {0 if option == '--grace' else 1} to ")
        self.refuses("-n", "x", "--places: 'x' is not a number from 1 to ")
        for wrong in ("abc", "1", "-1", "64KB", "2T"):
            self.refuses("--stack-size", wrong, f"--stack-size: '{wrong}' is not a number from 1024 to 1073741824 (bytes; suffixes K, M, G)")
        for option, words in (("--tags", "others, all, none"), ("--io", "own, 0"), ("--mpi", "openmpi, mpich")):
            self.refuses(option, "7", f"{option}: '7' is none of {words}\n")

    def test_a_value_that_is_forgotten_before_the_program(self):
        for option in ("-n", "--places", "--workers", "--stack-size", "--seed", "--io", "--tags", "--mpi", "--hosts", "--set", "--grace", "--explore"):
            done = tulle("run", option, "--", "true")
            self.assertEqual((done.returncode, done.stdout), (2, ""), option)
            self.assertTrue(done.stderr.startswith(f"tulle: {'--places' if option == '-n' else option}: its value is missing: `--` follows\n"), done.stderr)

    def test_an_empty_value_is_none(self):
        """As scripts have them, of variables that are not set."""
        for option in ("--workers", "--stack-size", "--seed", "--memory-places", "--hosts"):
            done = tulle("run", option, "", "true")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), option)

    def test_the_last_part_of_the_path_may_be_empty(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(shutil.which("true"), os.path.join(folder, "here"))
            for path in ("/usr/bin:/bin:", ":/usr/bin:/bin", "/usr/bin::/bin"):  # where this is the current folder
                for words in (["run", "here"], ["run", "--explore", "1", "here"]):
                    done = subprocess.run([os.path.abspath(PROGRAM), *words], capture_output=True, text=True, timeout=60, cwd=folder,
                                          env={**os.environ, "PATH": path})
                    self.assertEqual(done.returncode, 0, (path, words, done.stderr))

    def test_an_option_is_no_value(self):
        done = tulle("bench", "--html", "--list")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertTrue(done.stderr.startswith("tulle: --html: its value is missing: `--list` follows\n"), done.stderr)


class Nobody(unittest.TestCase):
    def test_is_said_beside_the_list(self):
        with tempfile.TemporaryDirectory() as folder:
            done = tulle("cpus", TULLE_CPUS_FILE=os.path.join(folder, "cpus"))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "tulle: cpus: there is no program that shares the processors\n"))
            done = tulle("cpus", "--json", TULLE_CPUS_FILE=os.path.join(folder, "cpus"))
            self.assertEqual((done.returncode, json.loads(done.stdout), done.stderr), (0, [], ""))

    def test_can_be_asked(self):
        done = tulle("ps")  # there may be somebody
        self.assertEqual((done.returncode, done.stderr), (0, "" if done.stdout else "tulle: ps: there is no process that can be asked\n"))


if __name__ == "__main__":
    unittest.main()
