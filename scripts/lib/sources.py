# SPDX-License-Identifier: Apache-2.0
"""What the checks share: which files the project has, how an offence is reported, and how source text is stripped."""
import argparse
import pathlib
import re
import subprocess
import sys

CODE = {".c", ".h", ".cpp", ".hpp", ".S"}


def arguments(description, **flags):
    """Parses --root DIR (default: the project of this script) and the given flags; name=help."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    for name, text in flags.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    return parser.parse_args()


def files(root, suffixes=None):
    """The project's files as sorted relative paths: what git tracks or would track, or all but build/ without git."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        paths = {pathlib.PurePosixPath(name) for name in listed.split("\0") if name}
    except (OSError, subprocess.CalledProcessError):
        paths = {pathlib.PurePosixPath(path.relative_to(root).as_posix()) for path in root.rglob("*")}
        paths = {path for path in paths if path.parts[0] not in ("build", ".git")}
    return sorted(path for path in paths
                  if (root / path).is_file() and (suffixes is None or path.suffix in suffixes))


def read(root, path):
    return (root / path).read_text(encoding="utf-8", errors="replace")


TOKEN = re.compile(
    r"""//(?:\\\n|[^\n])*            # line comment
      | /\*.*?\*/                     # block comment
      | R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)"   # raw string
      | (?<![0-9A-Za-z_])(?:u8|u|U|L)?"(?:\\.|[^"\\\n])*"
      | "(?:\\.|[^"\\\n])*"
      | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'         # character, but no digit separator
    """, re.VERBOSE | re.DOTALL)


def strip(text):
    """The text without comments and the contents of literals; every line keeps its number."""
    def blank(match):
        token = match.group()
        kept = "" if token.startswith("/") else "0"
        return kept + "\n" * token.count("\n")
    return TOKEN.sub(blank, text)


def finish(name, offences, summary):
    """Prints the offences and ends the program: 0 without any, else 1."""
    for offence in offences:
        print(f"{name}: {offence}", file=sys.stderr)
    if offences:
        print(f"{name}: {len(offences)} offences", file=sys.stderr)
        sys.exit(1)
    print(f"{name}: {summary}")
