# SPDX-License-Identifier: Apache-2.0
"""Programs with PARMACS macros for tests in Python: how they are compiled from sources of this tree, and run."""
import os
import pathlib
import subprocess

SOURCES = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = [f"-I{SOURCES / folder}" for folder in ("include", "include/compat/parmacs", "tests/support")]


def run(command, environment=None, timeout=120, **variables):
    """Without variables of ours but those that are given."""
    kept = {name: value for name, value in (environment or os.environ).items() if not name.startswith("TULLE_")}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, check=False, env={**kept, **variables})


def expand(source, folder):
    """Writes the C of a source into the folder; returns its path."""
    made = folder / f"{pathlib.Path(source).name.split('.')[0]}.c"
    macros = SOURCES / "include/compat/parmacs/parmacs.m4"
    made.write_text(subprocess.run(["m4", "-Ulen", "-Uindex", macros, SOURCES / source], capture_output=True, text=True, check=True).stdout)
    return made


def build(tulle, compiler, sources, program, more=()):
    """With the library beside that `tulle`; an AssertionError has what the compiler says."""
    made = [expand(source, program.parent) for source in sources]
    library = tulle.parent.parent / "lib"
    link = ["-o", program, f"-L{library}", "-ltulle-parmacs", "-ltulle", f"-Wl,-rpath,{library}"]
    done = run([*compiler, "-w", *INCLUDE, *made, *more, *link])
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return program
