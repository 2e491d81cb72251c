#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hpccg has the residuals of the plainest conjugate gradients, whatever the domain and the number of workers."""
import re
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
from example_program import PROGRAM, ProgramTest, main, program_test  # noqa: E402

program_test("hpccg")


def neighbours(nx, ny, nz):
    """For each point the numbers of the points around it, itself left out."""
    steps = [(x, y, z) for z in (-1, 0, 1) for y in (-1, 0, 1) for x in (-1, 0, 1) if (x, y, z) != (0, 0, 0)]
    return [[(z + dz) * nx * ny + (y + dy) * nx + x + dx for dx, dy, dz in steps
             if 0 <= x + dx < nx and 0 <= y + dy < ny and 0 <= z + dz < nz]
            for z in range(nz) for y in range(ny) for x in range(nx)]


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def conjugate_gradients(nx, ny, nz, iterations):
    """The residual before each iteration."""
    around = neighbours(nx, ny, nz)
    x = [0.0] * len(around)
    r = [27.0 - len(others) for others in around]
    p = r
    rr = dot(r, r)
    residuals = []
    for _ in range(iterations):
        residuals.append(rr ** 0.5)
        q = [27 * p[i] - sum(p[j] for j in others) for i, others in enumerate(around)]
        alpha = rr / dot(p, q)
        x = [a + alpha * b for a, b in zip(x, p)]
        r = [a - alpha * b for a, b in zip(r, q)]
        rr, before = dot(r, r), rr
        p = [a + rr / before * b for a, b in zip(r, p)]
    return residuals


class Hpccg(ProgramTest):
    def printed(self, *words):
        """What was printed of the residuals: {iteration: text}; 0 is the initial one."""
        text = self.succeeds(*words).decode()
        found = {int(k): r for k, r in re.findall(r"(?m)^Iteration = (\d+)   Residual = (\S+)$", text)}
        found[0], = re.findall(r"(?m)^Initial Residual = (\S+)$", text)
        return found

    def test_common_options(self):
        self.checks_common_options()

    def test_residuals(self):
        for domain in ((3, 4, 5), (1, 7, 6), (9, 1, 1), (6, 5, 40)):
            printed = self.printed(*domain, "--iterations", 9, "--no-peers")
            expected = conjugate_gradients(*domain, 9)
            self.assertEqual(sorted(printed), list(range(10)))
            for k, residual in enumerate(expected, 1):
                self.assertAlmostEqual(float(printed[k]), residual, delta=1e-5 * residual + 1e-9, msg=f"{domain}, iteration {k}")
            self.assertEqual(printed[0], printed[1])

    def test_lines_of_a_full_run(self):
        self.assertEqual(sorted(self.printed(12, 12, 12, "--no-peers")), [*range(0, 149, 15), 149])

    def test_exact_solution_ends_it(self):
        self.assertEqual(self.printed(1, 1, 1, "--no-peers"), {0: "27", 2: "0"})

    def test_libraries_agree(self):
        libraries = {row[2] for row in self.contest_rows(30, 30, 12, "--iterations", 20)}
        self.assertLessEqual({"tulle", "serial"}, libraries)
        self.assertEqual(len(libraries & {"OpenMP tasks", "OpenMP parallel for"}) % 2, 0)

    def test_workers_make_no_difference(self):
        lines = {tuple(sorted(self.printed(30, 31, 32, "--workers", workers, "--iterations", 40, "--no-peers").items())) for workers in (1, 2, 3)}
        self.assertEqual(len(lines), 1)

    def test_bad_input(self):
        for bad in ("0", "-1", "big"):
            self.fails(bad)
            self.fails(5, 5, bad)
        self.fails(5, 5, 5, "--iterations", 0, message=b"--iterations")
        self.fails(2000, 2000, 2000, message=b"more than 2^31 - 1 points")

    def test_a_domain_that_does_not_fit_is_refused_before_it_is_made(self):
        limit = 2 << 30
        done = subprocess.run([PROGRAM, "75", "75", "4096"], capture_output=True, timeout=60, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual(done.returncode, 2, done)
        self.assertRegex(done.stderr, rb"^hpccg: the domain needs 7\.\d GiB of memory, [01]\.\d GiB are available\n$")


if __name__ == "__main__":
    main()
