# SPDX-License-Identifier: Apache-2.0
"""Every benchmark of the programs that are built runs once, as short as it goes, and its result is right: nothing is measured.
Arguments: the program `tulle`, and the folder of the benchmark programs."""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(sys.argv.pop())
TULLE = os.path.abspath(sys.argv.pop())
SOURCES = pathlib.Path(__file__).resolve().parent.parent.parent / "bench"
OPENMPI = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"]
LAUNCHERS = {"openmpi": OPENMPI, "argodsm": OPENMPI, "mpich": ["mpirun.mpich", "-n"]}
# Sizes far below that of --quick, where that takes more than a moment. A workload that does not take a size so small says which it takes.
SIZES = {"hpccg-places": 2, "nqueens": 6, "shepherds": 100}
DEFAULT_SIZE = 1
SHARED = ("tulle_trap", "checked")  # of several benchmarks
PLACES = {"at": 2, "one-way": 2, "barrier": 2, "hpccg-places": 2, "remote-create": 2, "global-lock": 2, "process-lock": 2, "process-barrier": 2, "global-fib": 2, "global-sort": 2,
          "onesided-sizes": 2, "spanning": 2, "progress": 2, "coherent": 2}
PROGRAMS_OF_THEIR_OWN = ("tulle_tnt", "tulle_qthread", "tulle_myth", "tulle_pthread", "tulle_over_ucontext", "tulle_over_setjmp")
PATIENCE = 60  # seconds
# A server as bench/peers/echo_clients.cpp starts it.
SERVER = f"""#!{sys.executable}
import socket, sys, threading
listener = socket.socket(fileno=3)
assert sys.argv[1:] == ["echo", "--workers", "1", "--n", "20"]
def serve(connection):
    try:
        while message := connection.recv(1024):
            connection.sendall(ANSWER)
    except ConnectionResetError:
        pass
threads = [threading.Thread(target=serve, args=listener.accept()[:1]) for _ in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def programs():
    return sorted(path for path in FOLDER.glob("bench-*") if path.name.count("-") == 1)


def listed(program):
    done = subprocess.run([program, "--list"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    return [tuple(line.split()) for line in done.stdout.splitlines()]


def library_of(variant):
    """Of the program that has this source; what links something else has a program of its own."""
    return variant if variant in PROGRAMS_OF_THEIR_OWN else variant.partition("_")[0]


def start(workload, library):
    """The words before the program's that make its places, and its option for their number."""
    places = PLACES.get(workload)
    if places is None or library == "memory":
        return [], []
    launcher = next((words for mpi, words in LAUNCHERS.items() if library.partition("_")[0] == mpi), [TULLE, "run", "--tags", "none", "-n"])
    return [*launcher, str(places)], ["--places", str(places)]


def run(program, workload, library, size):
    launcher, places = start(workload, library)
    words = [*launcher, str(program), workload, library, *places, "--workers", "1", "--runs", "1", "--quick", "--n", str(size)]
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)


def complaint(program, workload, library):
    """What is wrong with it; None: nothing."""
    done = run(program, workload, library, SIZES.get(workload, DEFAULT_SIZE))
    least = re.search(r"--n is at least (\d+)", done.stderr)
    if done.returncode != 0 and least:
        done = run(program, workload, library, int(least[1]))
    try:
        figures = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    except ValueError as error:
        return f"{workload} {library}: {error}: {done.stdout}"
    right = done.returncode == 0 and figures and all(f["ok"] is True and f["bench"] == workload and f["library"].startswith(library) for f in figures)
    return None if right else f"{workload} {library}: {done}"


class Smoke(unittest.TestCase):
    def test_programs_have_what_the_folders_have(self):
        found = {(workload, library) for program in programs() for workload, library in listed(program)}
        missing = set()
        for source in SOURCES.glob("*/*.cpp"):
            program = FOLDER / ("bench-" + library_of(source.stem))
            if source.parent.name not in ("common", "peers") and program.exists() and source.stem not in SHARED:
                missing |= {(source.parent.name, source.stem)} - found
        self.assertEqual(missing, set())

    def test_each_result_is_right(self):
        todo = []
        for program in programs():
            for workload, library in listed(program):
                launcher, _ = start(workload, library)
                if not launcher or shutil.which(launcher[0]):
                    todo.append((program, workload, library))
        self.assertTrue(todo)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            complaints = [text for text in pool.map(lambda words: complaint(*words), todo) if text]
        self.assertEqual(complaints, [])

    def test_clients_of_a_server_in_another_language(self):
        """It is in Python here; one that answers wrongly fails."""
        def figures(server):
            done = subprocess.run([FOLDER / "echo-clients", "python", server, "echo", "--workers", "1", "--runs", "1", "--quick", "--n", "20"],
                                  capture_output=True, text=True, timeout=PATIENCE)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([(row["bench"], row["library"], row["unit"]) for row in rows], [("echo", "python", f"{what}, 20 connections") for what in ("us/answer", "us p99")])
            return done.returncode, [row["ok"] for row in rows]

        with tempfile.TemporaryDirectory() as folder:
            server = pathlib.Path(folder) / "server"
            for answer in ("message", "message[::-1]"):
                server.write_text(SERVER.replace("ANSWER", answer), encoding="utf-8")
                server.chmod(0o700)
                self.assertEqual(figures(server), (0, [True, True]) if answer == "message" else (1, [False, False]))


if __name__ == "__main__":
    unittest.main()
