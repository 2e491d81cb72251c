# SPDX-License-Identifier: Apache-2.0
"""Processes that a test has started, found by a mark in their environment, also where others started them in turn."""
import os

MARK = "PLACES_TEST"


def processes(mark, name=None):
    """Numbers of the processes with this mark, and this name if one is given, but for zombies."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                has_mark = f"{MARK}={mark}".encode() in file.read().split(b"\0")
            if has_mark and (name is None or os.path.basename(os.readlink(f"/proc/{number}/exe")) == name):
                found.append(int(number))
        except OSError:
            pass  # it has ended
    return found


def command_line(process):
    """Human-readable; what the kernel waits in as well. Nothing of a process that has ended."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as words, open(f"/proc/{process}/wchan", encoding="ascii") as where:
            return words.read().replace(b"\0", b" ").decode(errors="replace") + f"[{where.read()}]"
    except OSError:
        return ""


def processor_seconds(process):
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
