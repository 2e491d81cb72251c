# SPDX-License-Identifier: Apache-2.0
"""Programs that share the processors of the machine: who comes, goes or is killed; what `tulle cpus` shows. Arguments: the paths of the programs
`tulle` and `neighbour`."""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

NEIGHBOUR = os.path.abspath(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
PATIENCE = 60  # seconds, for what takes one
ALL = sorted(os.sched_getaffinity(0))
needs_two = unittest.skipIf(len(ALL) < 2, "one processor")


class Neighbour:
    def __init__(self, command, variables):
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables)
        self.pid = self.process.pid

    def tell(self, line):
        print(line, file=self.process.stdin, flush=True)

    def cpus(self):
        """Its CPUs as it says; it has a worker for each."""
        while True:
            self.tell("cpus")
            workers, *own = map(int, self.process.stdout.readline().split())
            if workers == len(own):  # it may have changed between the two
                return own

    def end(self):
        out, err = self.process.communicate("end\n", timeout=PATIENCE)
        return out.splitlines()[-1], err

    def kill(self):
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)

    def allowed(self):
        """Where its OS threads may run: the sets of them that there are."""
        found = set()
        for task in glob.glob(f"/proc/{self.pid}/task/*"):
            try:
                found.add(tuple(sorted(os.sched_getaffinity(int(os.path.basename(task))))))
            except ProcessLookupError:
                pass
        return found


class Cpus(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "registry")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TULLE_")}
        self.variables = {**kept, "TULLE_CPUS_FILE": self.file}

    def start(self, *options, words=()):
        neighbour = Neighbour([TULLE, "run", "--share-cpus", *options, NEIGHBOUR, *words], self.variables)
        self.addCleanup(neighbour.kill)
        return neighbour

    def tulle(self, *words, code=0):
        done = subprocess.run([TULLE, *words], capture_output=True, text=True, timeout=PATIENCE, env=self.variables)
        self.assertEqual(done.returncode, code, done)
        return done

    def shares(self):
        return {row["pid"]: row for row in json.loads(self.tulle("cpus", "--json").stdout)}

    def await_count(self, neighbour, count):
        end = time.monotonic() + PATIENCE
        while len(own := neighbour.cpus()) != count:
            self.assertLess(time.monotonic(), end, own)
            time.sleep(0.01)
        return own

    def await_allowed(self, neighbour, cpus):
        end = time.monotonic() + PATIENCE
        while (found := neighbour.allowed()) != {tuple(cpus)}:
            self.assertLess(time.monotonic(), end, found)
            time.sleep(0.01)

    def ends_well(self, neighbour):
        last, err = neighbour.end()
        self.assertRegex(last, r"^[1-9]\d* rounds, 0 wrong$", err)
        self.assertEqual((neighbour.process.returncode, err), (0, ""))

    def test_alone_a_program_has_everything(self):
        one = self.start()
        self.assertEqual(one.cpus(), ALL)
        self.ends_well(one)
        self.assertEqual(self.shares(), {})

    def test_words_that_are_no_text_are_shown_all_the_same(self):
        """The hundredth byte of the command line is within a character, too."""
        one = self.start(words=[b"\xff\x1b[31m", "\u00e9" * 200])
        one.cpus()
        command = self.shares()[one.pid]["command"]
        self.assertIn(" ??[31m \u00e9\u00e9", command)
        self.assertIn(" ??[31m \u00e9\u00e9", self.tulle("cpus").stdout)
        self.ends_well(one)

    @needs_two
    def test_two_have_disjoint_halves_and_who_stays_has_all_again(self):
        one = self.start()
        self.assertEqual(one.cpus(), ALL)
        two = self.start()
        of_two = self.await_count(two, len(ALL) // 2)
        of_one = self.await_count(one, len(ALL) - len(of_two))
        self.assertEqual(sorted(of_one + of_two), ALL)
        self.await_allowed(one, of_one)
        self.await_allowed(two, of_two)
        two.process.send_signal(signal.SIGKILL)
        self.assertEqual(self.await_count(one, len(ALL)), ALL)
        self.await_allowed(one, ALL)
        self.ends_well(one)

    @needs_two
    def test_who_ends_gives_back_and_who_was_second_has_all(self):
        one, two = self.start(), self.start()
        self.await_count(one, len(ALL) - len(ALL) // 2)
        self.ends_well(one)
        self.assertEqual(self.await_count(two, len(ALL)), ALL)
        self.ends_well(two)

    def test_more_programs_than_processors_have_one_each_evenly(self):
        several = [self.start() for _ in range(2 * len(ALL))]
        for neighbour in several:
            self.await_count(neighbour, 1)
        owned = sorted(cpu for neighbour in several for cpu in self.await_count(neighbour, 1))
        self.assertEqual(owned, sorted(2 * ALL))
        for neighbour in several:
            self.ends_well(neighbour)

    @needs_two
    def test_wishes_change_at_run_time(self):
        one, two = self.start(), self.start()
        self.await_count(one, len(ALL) - len(ALL) // 2)
        two.tell("want 1 1 1")
        self.await_count(one, len(ALL) - 1)
        two.tell(f"want {len(ALL)} {len(ALL)} 1")
        self.await_count(one, 1)
        one.tell("want 1 1 1000")
        self.await_count(one, 1)  # it has obeyed when it answers
        self.await_count(two, len(ALL) - 1)
        rows = self.shares()
        self.assertEqual([rows[one.pid][name] for name in ("least", "most", "weight")], [1, 1, 1000])
        self.assertEqual([rows[two.pid][name] for name in ("least", "most", "weight")], [len(ALL), len(ALL), 1])
        self.ends_well(one)
        self.ends_well(two)

    def test_shows_who_has_what(self):
        self.assertEqual(self.tulle("cpus").stdout, "")
        one = self.start("--workers", "1")
        own = one.cpus()
        row = self.shares()[one.pid]
        self.assertEqual((row["cpus"], row["may_use"], row["most"]), (own, ALL, 1))
        self.assertIn("neighbour", row["command"])
        lines = self.tulle("cpus").stdout.splitlines()
        self.assertRegex(lines[0], r"^ *pid +processors +least +most +weight +command$")
        self.assertRegex(lines[1], rf"^ *{one.pid} +{own[0]} +1 +1 +1 +\S*neighbour *$")

    def test_a_file_of_no_use_is_an_error_here_and_a_warning_there(self):
        with open(self.file, "w", encoding="ascii") as file:
            file.write("a letter to somebody else")
        why = f"{self.file}: it is of another version of Tulle, or something else"
        self.assertIn(f"tulle: cpus: {why}", self.tulle("cpus", code=1).stderr)
        one = self.start()
        self.assertEqual(one.cpus(), ALL)
        last, err = one.end()
        self.assertRegex(last, r"^[1-9]\d* rounds, 0 wrong$")
        self.assertIn(f"tulle: warning: processors are not shared: {why}", err)

    def test_a_deadlock_is_found(self):
        done = subprocess.run([NEIGHBOUR, "hang"], capture_output=True, text=True, timeout=PATIENCE, check=False,
                              env={**self.variables, "TULLE_SHARE_CPUS": "1"})
        self.assertEqual(done.returncode, -signal.SIGABRT, done)

    @needs_two
    def test_places_share_each_for_itself(self):
        one = self.start()
        job = Neighbour([TULLE, "run", "-n", "2", "--share-cpus", NEIGHBOUR], self.variables)
        self.addCleanup(job.kill)
        end = time.monotonic() + PATIENCE
        while len(rows := self.shares()) != 3:
            self.assertLess(time.monotonic(), end, rows)
            time.sleep(0.01)
        self.assertTrue(all(row["may_use"] == ALL for row in rows.values()), rows)
        self.ends_well(job)
        self.await_count(one, len(ALL))


if __name__ == "__main__":
    unittest.main()
