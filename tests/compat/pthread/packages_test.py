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

TULLE = os.path.abspath(sys.argv.pop(1))
WAY = (TULLE, "run", "--pthreads")
PYTHON = "/usr/bin/python3"

PYTHON_PROGRAM = """
import os, queue, socket, subprocess, threading, time
results, lock, total = queue.Queue(), threading.Lock(), [0]
def transfer(size):
    one, other = socket.socketpair()
    one.sendall(b'x' * size)
    one.close()
    got = b''
    while part := other.recv(100):
        got += part
    other.close()
    with lock:
        total[0] += len(got)
    results.put(size)
threads = [threading.Thread(target=transfer, args=(size,)) for size in range(1000)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(total[0], results.qsize(), threading.active_count())
ends = os.pipe()
reader = threading.Thread(target=lambda: print(os.read(ends[0], 10)))
reader.start()
time.sleep(0.05)
os.write(ends[1], b'written')
reader.join()
child = threading.Thread(target=lambda: print(subprocess.run(['echo', 'child'], capture_output=True).stdout))
child.start()
child.join()
condition = threading.Condition()
with condition: print(condition.wait(0.05))
"""

GZIP_BY_THREADS = """
import concurrent.futures, gzip, sys
data = open(sys.argv[1], 'rb').read()
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    parts = pool.map(lambda k: gzip.compress(data[k << 16:(k + 1) << 16], mtime=0), range(20))
    sys.stdout.buffer.write(b''.join(parts))
with concurrent.futures.ProcessPoolExecutor(3) as pool:
    print(sum(pool.map(abs, range(-50, 0))))
"""

RUBY_PROGRAM = """
sizes = Queue.new
threads = (0...200).map { |k| Thread.new { ends = IO.pipe; ends[1].write('x' * k); ends[1].close; sizes << ends[0].read.size } }
threads.each(&:join)
sum = 0
sum += sizes.pop until sizes.empty?
puts sum, `echo child`
lock, condition = Mutex.new, ConditionVariable.new
lock.synchronize { condition.wait(lock, 0.05) }
puts Thread.list.size
"""

PERL_PROGRAM = """
my $numbers = Thread::Queue->new;
my @threads = map { my $k = $_; threads->create(sub { $numbers->enqueue(2 * $k); return $k }) } 1 .. 20;
my $sum = 0;
$sum += $_->join for @threads;
$sum += $numbers->dequeue for 1 .. 20;
print "$sum\\n";
"""

NODE_PROGRAM = """
const { Worker } = require('worker_threads'), zlib = require('zlib'), data = require('fs').readFileSync(process.argv[1]);
let left = 8;
for (let k = 0; k < 8; ++k)
    zlib.gzip(data.subarray(k << 16, (k + 1) << 16), (error, packed) => { if (--left === 0) console.log('packed'); });
new Worker("require('worker_threads').parentPort.postMessage(42)", { eval: true }).on('message', answer => { process.exitCode = answer - 42; });
"""


# Schedulers with threads of their own, which send messages; its emulator has a sigaction of its own, which calls this library's.
ERLANG_PROGRAM = """
    All = lists:seq(1, 100), Self = self(),
    [spawn(fun() -> Self ! {K, lists:sum(lists:seq(1, K * 100))} end) || K <- All],
    io:format("~w~n", [lists:sum([receive {K, Sum} -> Sum end || K <- All])]), halt().
"""

JAVA_PROGRAM = """
import java.util.*;
import java.util.concurrent.*;

public class Sums {
    static long sum(int k) {
        long all = 0;
        for (int j = 0; j < 100000; ++j) all += j ^ k;
        return all;
    }
    public static void main(String[] words) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<Long>> parts = new ArrayList<>();
        for (int k = 0; k < 100; ++k) { final int own = k; parts.add(pool.submit(() -> sum(own))); }
        long all = 0;
        for (Future<Long> part : parts) all += part.get();
        pool.shutdown();
        System.out.println(all);
    }
}
"""

# Writers that wait for each other by locks of files, and pauses.
SQLITE_PROGRAM = """
import os, sqlite3, sys, threading
name = os.path.join(sys.argv[1], 'database')
def write(k):
    database = sqlite3.connect(name, timeout=100)
    for n in range(20):
        with database: database.execute('INSERT INTO t VALUES (?, ?)', (k, n))
    database.close()
for mode in 'WAL', 'DELETE':
    database = sqlite3.connect(name)
    database.execute(f'PRAGMA journal_mode={mode}')
    database.executescript('PRAGMA synchronous=OFF; DROP TABLE IF EXISTS t; CREATE TABLE t (k INT, n INT)')
    threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(database.execute('SELECT COUNT(*), SUM(n), SUM(k) FROM t').fetchone(), database.execute('PRAGMA integrity_check').fetchone())
    database.close()
os.unlink(name)
"""

OPENMP_PROGRAM = """
#include <omp.h>
#include <stdio.h>
int main(void)
{
    long sum = 0, nested = 0;
    int threads = 0;
    for (int round = 0; round < 50; ++round) {
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 100) num_threads(4)
        for (long k = 0; k < 100000; ++k) sum += k % 7;
    }
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier
#pragma omp critical
        ++threads;
#pragma omp single
        for (int k = 0; k < 100; ++k) {
#pragma omp task
            {
#pragma omp atomic
                nested += k;
            }
        }
    }
    printf("%ld %d %ld\\n", sum, threads, nested);
    return 0;
}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


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

    @needs("pigz")
    def test_pigz(self):
        self.run_both("pigz", "-d", "-c", data=self.run_both("pigz", "-p4", "-c", self.data))

    @needs("pbzip2")
    def test_pbzip2(self):
        self.run_both("pbzip2", "-d", "-c", "-p4", data=self.run_both("pbzip2", "-p4", "-c", self.data))

    @needs("xz")
    def test_xz(self):
        self.run_both("xz", "-T4", "-0", "-c", self.data)

    @needs("sort")
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

    @needs("rg")
    def test_ripgrep(self):
        self.run_sorted("rg", "-j4", "-c", "include", "/usr/include")

    @needs("fdfind")
    def test_fd(self):
        self.run_sorted("fdfind", "-j4", ".", "/usr/include")

    @needs("git")
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

    @needs("x264")
    def test_x264(self):
        with open(self.data, "rb") as file:
            frames = file.read(10 * 352 * 288 * 3 // 2)
        encode = "x264 --threads 4 --demuxer raw --input-res 352x288 --preset ultrafast --muxer raw -o - - 2>/dev/null"  # it says how fast it was
        self.run_both("sh", "-c", encode, data=frames)

    @needs("ruby")
    def test_ruby(self):
        self.assertEqual(self.run_both("ruby", "-e", RUBY_PROGRAM), b"19900\nchild\n1\n")

    @needs("perl")
    def test_perl(self):
        if subprocess.run(["perl", "-Mthreads", "-e", "1"], capture_output=True).returncode != 0:
            self.skipTest("perl has no threads")
        self.assertEqual(self.run_both("perl", "-Mthreads", "-MThread::Queue", "-e", PERL_PROGRAM), b"630\n")

    @needs("node")
    def test_node(self):
        self.run_both("node", "-e", NODE_PROGRAM, self.data)

    @needs("erl")
    def test_erlang(self):
        self.assertEqual(self.run_both("erl", "-noshell", "+S", "4:4", "-eval", ERLANG_PROGRAM), b"1692002500\n")

    @needs("javac")
    def test_java(self):
        source = os.path.join(self.folder.name, "Sums.java")
        with open(source, "w", encoding="ascii") as file:
            file.write(JAVA_PROGRAM)
        subprocess.run(["javac", source], check=True)
        self.assertEqual(self.run_both("java", "-cp", self.folder.name, "Sums"), b"499995110592\n")

    @needs("ffmpeg")
    def test_ffmpeg(self):
        source = ("-f", "lavfi", "-i", "testsrc=duration=1:size=320x240:rate=30")
        self.run_both("ffmpeg", "-v", "error", *source, "-threads", "4", "-c:v", "mpeg4", "-f", "md5", "-")

    @needs("mksquashfs")
    def test_squashfs(self):
        image = os.path.join(self.folder.name, "image")
        make = f"mksquashfs {self.data} {image} -processors 4 -noappend -mkfs-time 0 -all-time 0 -no-progress > /dev/null; md5sum < {image}"
        self.run_both("sh", "-c", make)

    @needs(PYTHON)
    def test_python_compresses_by_pools_of_threads_and_of_processes(self):
        self.run_both(PYTHON, "-c", GZIP_BY_THREADS, self.data)

    @needs(PYTHON)
    def test_sqlite_with_writers_that_wait_for_each_other(self):
        self.assertEqual(self.run_both(PYTHON, "-c", SQLITE_PROGRAM, self.folder.name).splitlines(), [b"(160, 1520, 560) ('ok',)"] * 2)

    @needs("gcc")
    def test_openmp(self):
        program, source = os.path.join(self.folder.name, "openmp"), os.path.join(self.folder.name, "openmp.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(OPENMP_PROGRAM)
        if subprocess.run(["gcc", "-O2", "-fopenmp", source, "-o", program], capture_output=True, check=False).returncode != 0:
            self.skipTest("gcc has no OpenMP")
        self.assertEqual(self.run_both(program), b"14999750 4 4950\n")

    @needs("stress-ng")
    def test_stress_ng_makes_threads(self):
        done = subprocess.run([*WAY, "stress-ng", "--pthread", "2", "--pthread-ops", "1000", "--pthread-max", "64", "--metrics-brief"],
                              capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done)
        made = re.search(r"\] pthread +(\d+) ", done.stdout + done.stderr)
        self.assertIsNotNone(made, done)
        self.assertGreaterEqual(int(made[1]), 1000, done)

    @needs("iperf3")
    def test_iperf3_at_either_end(self):
        for server_way, client_way in ((WAY, ()), ((), WAY)):
            port = str(free_port())
            with subprocess.Popen([*server_way, "iperf3", "-s", "-1", "-p", port, "--forceflush"], stdout=subprocess.PIPE, text=True) as server:
                self.addCleanup(server.kill)
                while "listening" not in server.stdout.readline():
                    self.assertIsNone(server.poll())
                done = subprocess.run([*client_way, "iperf3", "-c", "127.0.0.1", "-p", port, "-P", "2", "-n", "20M"], capture_output=True, text=True, timeout=240)
                self.assertEqual(done.returncode, 0, done)
                self.assertRegex(done.stdout, r"\[SUM\].*receiver")
                server.communicate(timeout=240)
                self.assertEqual(server.returncode, 0)

    @needs("curl")
    def test_curl_asks_by_a_thread_for_the_address(self):
        """Its resolver is a thread."""
        port = free_port()
        server = subprocess.Popen([sys.executable, "-m", "http.server", "-d", self.folder.name, "-b", "127.0.0.1", str(port)], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        subprocess.run(["curl", "-s", "--retry", "100", "--retry-delay", "1", "--retry-connrefused", f"http://127.0.0.1:{port}"],
                       stdout=subprocess.DEVNULL, check=True)
        with open(self.data, "rb") as file:
            data = file.read()
        said = self.run_both("curl", "-s", "-S", *[f"http://localhost:{port}/data"] * 2)
        self.assertEqual(said, data * 2)

    @needs(PYTHON)
    def test_python(self):
        said = self.run_both(PYTHON, "-c", PYTHON_PROGRAM)
        self.assertEqual(said.splitlines(), [b"499500 1000 1", b"b'written'", b"b'child\\n'", b"False"])


if __name__ == "__main__":
    unittest.main()
