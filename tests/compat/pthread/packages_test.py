# SPDX-License-Identifier: Apache-2.0
"""Packaged programs with threads do the same upon libtulle-preload. Those that are not installed are skipped. Argument: the program `tulle`."""
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import programs

TULLE = os.path.abspath(sys.argv.pop(1))
WAY = (TULLE, "run", "--pthreads")

class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.data = os.path.join(cls.folder.name, "data")
        source = random.Random(1)
        words = [f"{source.getrandbits(20):x}" for _ in range(20000)]
        with open(cls.data, "w", encoding="ascii") as file:
            for _ in range(500000):
                file.write(source.choice(words) + "\n")

    def run_both(self, *words, data=None):
        native, ours = (subprocess.run([*way, *words], input=data, capture_output=True, timeout=240) for way in ((), WAY))
        self.assertEqual(native.returncode, 0, native.stderr)
        self.assertEqual((ours.returncode, ours.stderr), (native.returncode, native.stderr))
        self.assertEqual(ours.stdout, native.stdout)
        return ours.stdout

    @programs.needs("pigz")
    def test_pigz(self):
        self.run_both("pigz", "-d", "-c", data=self.run_both("pigz", "-p4", "-c", self.data))

    @programs.needs("pbzip2")
    def test_pbzip2(self):
        self.run_both("pbzip2", "-d", "-c", "-p4", data=self.run_both("pbzip2", "-p4", "-c", self.data))

    @programs.needs("xz")
    def test_xz(self):
        self.run_both("xz", "-T4", "-0", "-c", self.data)

    @programs.needs("sort")
    def test_sort(self):
        self.run_both("sort", "--parallel=4", "-S", "5M", self.data)

    def test_compressors(self):
        for program, pack, unpack in (("zstd", ("-T4", "-q", "-c"), ("-d", "-q", "-c")), ("lbzip2", ("-n4", "-c"), ("-n4", "-d", "-c")),
                                      ("plzip", ("-0", "-n4", "-c"), ("-n4", "-d", "-c")), ("pixz", ("-0", "-p4"), ("-p4", "-d"))):
            with self.subTest(program):
                if not shutil.which(program):
                    self.skipTest("not installed")
                with open(self.data, "rb") as file:
                    data = file.read(1 << 20)
                self.assertEqual(self.run_both(program, *unpack, data=self.run_both(program, *pack, data=data)), data)

    def run_sorted(self, *words):
        self.run_both("sh", "-c", '"$@" | sort', "sh", *words)

    @programs.needs("rg")
    def test_ripgrep(self):
        self.run_sorted("rg", "-j4", "-c", "include", "/usr/include")

    @programs.needs("fdfind")
    def test_fd(self):
        self.run_sorted("fdfind", "-j4", ".", "/usr/include")

    @programs.needs("git")
    def test_git(self):
        repository = os.path.join(self.folder.name, "repository")
        git = ("git", "-C", repository, "-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "pack.threads=4")
        os.mkdir(repository)
        for k in range(40):
            with open(os.path.join(repository, f"file{k}"), "w", encoding="ascii") as file:
                file.writelines(f"{k * j}\n" for j in range(500))
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
            subprocess.run([*git, *words], check=True)
        self.run_both(*git, "grep", "--threads=4", "-c", "7")
        pack = os.path.join(self.folder.name, "pack")
        with open(pack, "wb") as file:
            subprocess.run([*WAY, *git, "pack-objects", "--all", "--stdout", "-q"], stdin=subprocess.DEVNULL, stdout=file, check=True)
        self.run_both(*git, "index-pack", "--threads=4", "-o", f"{pack}.idx", pack)

    @programs.needs("x264")
    def test_x264(self):
        with open(self.data, "rb") as file:
            frames = file.read(10 * 352 * 288 * 3 // 2)
        encode = "x264 --threads 4 --demuxer raw --input-res 352x288 --preset ultrafast --muxer raw -o - - 2>/dev/null"  # it says how fast it was
        self.run_both("sh", "-c", encode, data=frames)

    @programs.needs("ruby")
    def test_ruby(self):
        self.assertEqual(self.run_both("ruby", "-e", programs.RUBY_PROGRAM), b"19900\nchild\n1\n")

    @programs.needs("perl")
    def test_perl(self):
        if subprocess.run(["perl", "-Mthreads", "-e", "1"], capture_output=True).returncode != 0:
            self.skipTest("perl has no threads")
        self.assertEqual(self.run_both("perl", "-Mthreads", "-MThread::Queue", "-e", programs.PERL_PROGRAM), b"630\n")

    @programs.needs("node")
    def test_node(self):
        self.run_both("node", "-e", programs.NODE_PROGRAM, self.data)

    @programs.needs("erl")
    def test_erlang(self):
        self.assertEqual(self.run_both("erl", "-noshell", "+S", "4:4", "-eval", programs.ERLANG_PROGRAM), b"1692002500\n")

    @programs.needs("javac")
    def test_java(self):
        source = os.path.join(self.folder.name, "Sums.java")
        with open(source, "w", encoding="ascii") as file:
            file.write(programs.JAVA_PROGRAM)
        subprocess.run(["javac", source], check=True)
        self.assertEqual(self.run_both("java", "-cp", self.folder.name, "Sums"), b"499995110592\n")

    @programs.needs("ffmpeg")
    def test_ffmpeg(self):
        source = ("-f", "lavfi", "-i", "testsrc=duration=1:size=320x240:rate=30")
        self.run_both("ffmpeg", "-v", "error", *source, "-threads", "4", "-c:v", "mpeg4", "-f", "md5", "-")

    @programs.needs("mksquashfs")
    def test_squashfs(self):
        image = os.path.join(self.folder.name, "image")
        make = f"mksquashfs {self.data} {image} -processors 4 -noappend -mkfs-time 0 -all-time 0 -no-progress > /dev/null; md5sum < {image}"
        self.run_both("sh", "-c", make)

    @programs.needs(programs.PYTHON)
    def test_python_compresses_by_pools_of_threads_and_of_processes(self):
        self.run_both(programs.PYTHON, "-c", programs.GZIP_BY_THREADS, self.data)

    @programs.needs(programs.PYTHON)
    def test_sqlite_with_writers_that_wait_for_each_other(self):
        self.assertEqual(self.run_both(programs.PYTHON, "-c", programs.SQLITE_PROGRAM, self.folder.name).splitlines(), [b"(160, 1520, 560) ('ok',)"] * 2)

    @programs.needs("gcc")
    def test_openmp(self):
        program, source = os.path.join(self.folder.name, "openmp"), os.path.join(self.folder.name, "openmp.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(programs.OPENMP_PROGRAM)
        if subprocess.run(["gcc", "-O2", "-fopenmp", source, "-o", program], capture_output=True, check=False).returncode != 0:
            self.skipTest("gcc has no OpenMP")
        self.assertEqual(self.run_both(program), b"14999750 4 4950\n")
        told = subprocess.run([*WAY, "--explain", program], capture_output=True, text=True, timeout=240)
        self.assertIn("\nthreads that are OS threads: 3, as they wait by system calls of their own\n", told.stderr)

    @programs.needs("Rscript")
    def test_r_with_processes(self):
        """Its libraries may make threads before main begins (OpenBLAS), and end them for each fork."""
        program = "library(parallel); print(unlist(mclapply(1:20, function(k) sum(solve(diag(50) * k)), mc.cores = 4)))"
        self.run_both("Rscript", "-e", program)

    @programs.needs("stress-ng")
    def test_stress_ng_makes_threads(self):
        done = subprocess.run([*WAY, "stress-ng", "--pthread", "2", "--pthread-ops", "1000", "--pthread-max", "64", "--metrics-brief"],
                              capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done)
        made = re.search(r"\] pthread +(\d+) ", done.stdout + done.stderr)
        self.assertIsNotNone(made, done)
        self.assertGreaterEqual(int(made[1]), 1000, done)

    @programs.needs("iperf3")
    def test_iperf3_at_either_end(self):
        for server_way, client_way in ((WAY, ()), ((), WAY)):
            port = str(programs.free_port())
            with subprocess.Popen([*server_way, "iperf3", "-s", "-1", "-p", port, "--forceflush"], stdout=subprocess.PIPE, text=True) as server:
                self.addCleanup(server.kill)
                while "listening" not in server.stdout.readline():
                    self.assertIsNone(server.poll())
                done = subprocess.run([*client_way, "iperf3", "-c", "127.0.0.1", "-p", port, "-P", "2", "-n", "20M"], capture_output=True, text=True, timeout=240)
                self.assertEqual(done.returncode, 0, done)
                self.assertRegex(done.stdout, r"\[SUM\].*receiver")
                server.communicate(timeout=240)
                self.assertEqual(server.returncode, 0)

    @programs.needs("curl")
    def test_curl_asks_by_a_thread_for_the_address(self):
        """Its resolver is a thread."""
        port = programs.free_port()
        server = subprocess.Popen([sys.executable, "-m", "http.server", "-d", self.folder.name, "-b", "127.0.0.1", str(port)], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        subprocess.run(["curl", "-s", "--retry", "100", "--retry-delay", "1", "--retry-connrefused", f"http://127.0.0.1:{port}"],
                       stdout=subprocess.DEVNULL, check=True)
        with open(self.data, "rb") as file:
            data = file.read()
        said = self.run_both("curl", "-s", "-S", *[f"http://localhost:{port}/data"] * 2)
        self.assertEqual(said, data * 2)

    @programs.needs("strace")
    @programs.needs(programs.PYTHON)
    def test_sockets_that_never_wait_are_not_asked_before_each_message(self):
        """Event loops have such: a message is one call there, and one here."""
        counts = os.path.join(self.folder.name, "counts")
        strace = ("strace", "-f", "-c", "-U", "calls,name", "-o", counts)
        if subprocess.run([*strace, "true"], capture_output=True).returncode != 0:
            self.skipTest("strace may not trace")
        self.assertEqual(subprocess.run([*strace, *WAY, programs.PYTHON, "-c", programs.NEVER_WAITING_PROGRAM], capture_output=True, timeout=240).stdout, b"1000\n")
        with open(counts, encoding="ascii") as file:
            made = {name: int(count) for count, name in (line.split() for line in file if re.match(r" *\d+ \w+$", line))}
        self.assertGreaterEqual(made.get("sendto", 0) + made.get("sendmsg", 0), 900, made)
        self.assertLess(made.get("poll", 0) + made.get("ppoll", 0), 100, made)

    @programs.needs(programs.PYTHON)
    def test_python(self):
        said = self.run_both(programs.PYTHON, "-c", programs.PYTHON_PROGRAM)
        self.assertEqual(said.splitlines(), [b"499500 1000 1", b"b'written'", b"b'child\\n'", b"False"])


if __name__ == "__main__":
    unittest.main()
