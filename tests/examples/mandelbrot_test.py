#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mandelbrot writes a PNG file that decodes to the picture that it should be."""
import struct
import sys
import zlib

sys.dont_write_bytecode = True
from example_program import ProgramTest, main, program_test  # noqa: E402

program_test("mandelbrot")


def chunks(png):
    """Yields (type, data) of each chunk, with its checksum verified."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at:at + 4])
        kind, data = png[at + 4:at + 8], png[at + 8:at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + data)
        yield kind, data
        at += 12 + length


def unfilter(kind, line, above):
    """One row of RGB bytes without the PNG filter."""
    out = bytearray()
    for i, value in enumerate(line):
        a, b, c = (out[i - 3] if i >= 3 else 0), above[i], (above[i - 3] if i >= 3 else 0)
        paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        out.append(value + (0, a, b, (a + b) // 2, paeth)[kind] & 255)
    return bytes(out)


def decode(png):
    parts = list(chunks(png))
    width, height, depth, colour = struct.unpack(">IIBB", parts[0][1][:10])
    assert (parts[0][0], parts[-1][0], depth, colour) == (b"IHDR", b"IEND", 8, 2)
    raw = zlib.decompress(b"".join(data for kind, data in parts if kind == b"IDAT"))
    rows, above = [], bytes(3 * width)
    for y in range(height):
        line = raw[y * (3 * width + 1):(y + 1) * (3 * width + 1)]
        above = unfilter(line[0], line[1:], above)
        rows.append([above[3 * x:3 * x + 3] for x in range(width)])
    return rows


def in_set(cx, cy, limit):
    z, c = 0j, complex(cx, cy)
    for _ in range(limit):
        if z.real * z.real + z.imag * z.imag > 4:
            return False
        z = z * z + c
    return True


class Mandelbrot(ProgramTest):
    def test_common_options(self):
        self.checks_common_options()

    def test_picture(self):
        out = self.path("set.png")
        for workers in (1, 2, 4):
            self.contest_rows("-o", out, "--width", 80, "--height", 60, "--x", -0.5, "--y", 0, "--span", 4, "--iterations", 200,
                              "--workers", workers)
            rows = decode(self.read("set.png"))
            self.assertEqual((len(rows), len(rows[0])), (60, 80))
            for x, y in ((40, 30), (60, 30), (0, 0), (79, 59), (5, 30), (20, 40)):
                black = rows[y][x] == b"\0\0\0"
                self.assertEqual(black, in_set(-2.5 + x * 0.05, (30 - y) * 0.05, 200), (x, y))

    def test_one_pixel_and_no_file(self):
        self.contest_rows("-o", self.path("one.png"), "--width", 1, "--height", 1)
        self.assertEqual(len(decode(self.read("one.png"))), 1)
        self.contest_rows("-o", "", "--width", 10, "--height", 10)

    def test_bad_input(self):
        self.fails("--width", 0, message=b"--width")
        self.fails("--height", "tall", message=b"--height")
        self.fails("--span", "-1", message=b"--span")
        self.fails("--width", 4, "--height", 4, "-o", "/no/such/folder/x.png", message=b"/no/such/folder/x.png")


if __name__ == "__main__":
    main()
