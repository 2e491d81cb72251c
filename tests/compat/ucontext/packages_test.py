# SPDX-License-Identifier: Apache-2.0
"""Packaged programs whose coroutines are contexts of <ucontext.h> do the same upon libtulle-ucontext. Those that are not installed are
skipped. Argument: the program `tulle`."""
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from vnc_server import VncServer  # noqa: E402

TULLE = os.path.abspath(sys.argv.pop(1))
WAYS = ((), (TULLE, "run", "--ucontext"), (TULLE, "run", "--ucontext=no-masks"))


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Packages(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def run_in_folder(self, way, *words):
        done = subprocess.run([*way, *words], cwd=self.folder, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def path(self, name):
        return os.path.join(self.folder, name)

    @needs("qemu-img")
    def test_qemu_img_converts_an_image_and_back(self):
        with open(self.path("raw"), "wb") as image:
            for k in range(64):
                image.write(bytes([k]) * 65536 + bytes(65536))
        for way in WAYS:
            self.run_in_folder(way, "qemu-img", "convert", "-O", "qcow2", "-c", "raw", "packed")
            self.run_in_folder(way, "qemu-img", "convert", "-O", "raw", "packed", "back")
            self.assertIn("Images are identical", self.run_in_folder(way, "qemu-img", "compare", "raw", "packed"))
            self.assertTrue(filecmp.cmp(self.path("raw"), self.path("back"), shallow=False))

    @needs("qemu-io")
    def test_qemu_io_writes_and_reads_patterns(self):
        commands = ("write -P 7 0 1M", "aio_write -P 9 512k 1M", "aio_flush", "read -P 7 0 512k", "read -P 9 512k 1M", "map")
        words = ["qemu-io", *(word for command in commands for word in ("-c", command)), "image"]
        for way in WAYS:
            self.run_in_folder((), "qemu-img", "create", "-q", "-f", "qcow2", "image", "4M")
            said = self.run_in_folder(way, *words)
            self.assertNotIn("Pattern verification failed", said)
            self.assertIn("1.500 MiB (0x180000) bytes", said)

    @needs("gvnccapture")
    def test_gvnccapture_takes_the_picture_of_a_server(self):
        pictures = set()
        for way in WAYS:
            server = VncServer()
            server.start()
            self.run_in_folder(way, "gvnccapture", f"127.0.0.1:{server.port - 5900}", "picture.png")
            with open(self.path("picture.png"), "rb") as picture:
                pictures.add(picture.read())
        self.assertEqual(len(pictures), 1)

    @needs("openssl")
    def test_openssl_hashes_in_jobs(self):
        for way in WAYS:
            said = self.run_in_folder(way, "openssl", "speed", "-async_jobs", "4", "-seconds", "1", "-bytes", "256", "-evp", "sha256")
            self.assertRegex(said, r"(?mi)^sha256 +\d+\.\d+k")


unittest.main()
