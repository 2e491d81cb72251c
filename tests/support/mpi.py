# SPDX-License-Identifier: Apache-2.0
"""How tests start programs by the mpirun of an MPI: as root too, more processes than processors, none bound to one."""
import atexit
import functools
import os
import re
import shutil
import subprocess
import tempfile


def is_open_mpi(mpirun):
    done = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=False)
    return any(name in done.stdout for name in ("Open MPI", "OpenRTE", "PRTE"))


def survives_deaths(mpirun):
    """Open MPI, from version 5 on."""
    done = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"\(Open MPI\) (\d+)", done.stdout)
    return version is not None and int(version[1]) >= 5


def launch(mpirun):
    """The words before the number of processes."""
    if is_open_mpi(mpirun):
        return [mpirun, "--oversubscribe", "--bind-to", "none"]
    return [mpirun]


@functools.cache
def folder_of_sessions():
    """Of this program alone: an mpirun of Open MPI that starts while another one ends fails in their common folder ("File exists")."""
    folder = tempfile.mkdtemp(prefix="tulle-mpi-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def environment():
    sessions = {f"{project}_tmpdir_base": folder_of_sessions() for project in ("OMPI_MCA_orte", "PRTE_MCA_prte")}
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    no_leaks = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # MPIs have many
    return {**os.environ, **as_root, **no_leaks, **sessions}
