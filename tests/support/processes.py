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


def processor_seconds(process):
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
