# SPDX-License-Identifier: Apache-2.0
"""Packaged servers with threads serve natively and upon libtulle-preload, and end when they are told to, here no later than a second after they do
natively. Those that are not installed are skipped. Argument: the program `tulle`."""
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import programs

TULLE = os.path.abspath(sys.argv.pop(1))
WAY = (TULLE, "run", "--pthreads")
SOON = 60  # s: a busy machine is given time
LATER = 1  # s from SIGTERM to the end, beyond what the program takes natively in the same test
TRIES = 3  # a machine that is busy with others may be late once, and what is late each time is the program
CLIENTS = 16


class Servers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.port = programs.free_port()

    def start(self, *words, way=WAY):
        with open(self.folder / "said", "wb") as said:
            server = subprocess.Popen([*way, *map(str, words)], stdout=said, stderr=said, cwd=self.folder, start_new_session=True)
        self.addCleanup(self.kill, server)
        end = time.monotonic() + SOON
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=SOON).close()
                return server
            except ConnectionRefusedError:
                self.assertIsNone(server.poll(), self.said())
                self.assertLess(time.monotonic(), end, self.said())
                time.sleep(0.02)

    @staticmethod
    def kill(server):
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()

    def said(self):
        return (self.folder / "said").read_text(errors="replace")

    def ask(self, request, last):
        """One connection; the answer up to its `last` bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=SOON) as connection:
            connection.sendall(request)
            got = b""
            while not got.endswith(last):
                part = connection.recv(1 << 16)
                self.assertTrue(part, (got[-100:], self.said()))
                got += part
            return got

    def page(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{name}", timeout=SOON) as answer:
            return answer.read()

    def all_well(self, serve):
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
            self.assertTrue(all(clients.map(serve, range(10 * CLIENTS))))

    def seconds_to_the_end(self, way, words, use, status):
        server = self.start(*words, way=way)
        use()
        with socket.create_connection(("127.0.0.1", self.port), timeout=SOON):  # a client that says nothing keeps no server
            time.sleep(0.05)
            begin = time.monotonic()
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(timeout=SOON), status, self.said())
            return time.monotonic() - begin

    def serves(self, *words, use, status=0):
        """use() is a client that checks what it gets."""
        took = []
        for _ in range(TRIES):
            took.append([self.seconds_to_the_end(way, words, use, status) for way in ((), WAY)])
            if took[-1][1] <= took[-1][0] + LATER:
                return
        self.fail(f"seconds from SIGTERM to the end, natively and here: {took}")

    def serves_redis(self, *options):
        def serve(k):
            value = b"%d" % k * 1000
            request = b"*3\r\n$3\r\nSET\r\n$4\r\nk%03d\r\n$%d\r\n%s\r\n*2\r\n$3\r\nGET\r\n$4\r\nk%03d\r\n" % (k, len(value), value, k)
            return self.ask(request, value + b"\r\n") == b"+OK\r\n$%d\r\n%s\r\n" % (len(value), value)

        self.serves(*programs.redis(self.folder, self.port), *options, use=lambda: self.all_well(serve))

    @programs.needs("redis-server")
    def test_redis_with_threads_for_input_and_output(self):
        self.serves_redis("--io-threads", 4, "--io-threads-do-reads", "yes")

    @programs.needs("redis-server")
    def test_redis_with_one_thread_for_input_and_output(self):
        self.serves_redis("--io-threads", 1)

    @programs.needs(programs.PYTHON)
    def test_python_with_a_thread_for_each_request(self):
        data = random.Random(1).randbytes(1 << 16)
        (self.folder / "data").write_bytes(data)
        self.serves(*programs.python(self.folder, self.port), use=lambda: self.all_well(lambda _: self.page("data") == data), status=-signal.SIGTERM)

    @programs.needs(programs.PYTHON)
    @programs.needs("wrk")
    def test_wrk_asks_by_threads(self):
        (self.folder / "data").write_bytes(b"data")
        self.start(*programs.python(self.folder, self.port), way=())
        done = subprocess.run([*WAY, "wrk", "-t", "2", "-c", "8", "-d", "1s", f"http://127.0.0.1:{self.port}/data"], capture_output=True, text=True, timeout=SOON)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        answers = re.search(r"(\d+) requests in", done.stdout)
        self.assertGreater(int(answers[1]), 0, done)
        self.assertNotRegex(done.stdout, "errors|Non-2xx")

    @programs.needs("pgbench")
    def test_pgbench_with_threads(self):
        """Its clients add to rows, and the sums are the same. PostgreSQL does not run as root."""
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        if not found or os.getuid() != 0 or not shutil.which("runuser"):
            self.skipTest("there is no PostgreSQL that this test could start")
        self.folder.chmod(0o755)
        made = self.folder / "database"
        made.mkdir()
        shutil.chown(made, "postgres")
        as_user = ("runuser", "-u", "postgres", "--")
        subprocess.run([*as_user, found[-1].parent / "initdb", "-D", made, "-A", "trust", "-N"], check=True, stdout=subprocess.DEVNULL, cwd=made)
        self.start(*as_user, found[-1], "-D", made, "-p", self.port, "-k", made, "-F", way=())
        whom = ("-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "postgres")
        end = time.monotonic() + SOON
        while subprocess.run(["pgbench", "-i", "-q", *whom], capture_output=True).returncode != 0:
            self.assertLess(time.monotonic(), end, self.said())
            time.sleep(0.1)
        for protocol in ("simple", "prepared"):
            done = subprocess.run([*WAY, "pgbench", "-n", "-j", "4", "-c", "8", "-t", "50", "-M", protocol, *whom], capture_output=True, text=True, timeout=SOON)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)
            self.assertIn("actually processed: 400/400\n", done.stdout)
        sums = "SELECT (SELECT SUM(abalance) FROM pgbench_accounts) = (SELECT SUM(delta) FROM pgbench_history), COUNT(*) FROM pgbench_history"
        said = subprocess.run(["psql", "-A", "-t", "-c", sums, *whom], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "t|800\n")

    @programs.needs("memcached")
    def test_memcached(self):
        def serve(k):
            value = b"%d" % k * 1000
            request = b"set k%d 0 0 %d\r\n%s\r\nget k%d\r\n" % (k, len(value), value, k)
            return self.ask(request, b"END\r\n") == b"STORED\r\nVALUE k%d 0 %d\r\n%s\r\nEND\r\n" % (k, len(value), value)

        self.serves(*programs.memcached(self.folder, self.port), use=lambda: self.all_well(serve))

    @programs.needs("nginx")
    def test_nginx_with_threads_for_files(self):
        data = random.Random(1).randbytes(1 << 20)
        (self.folder / "data").write_bytes(data)
        self.serves(*programs.nginx(self.folder, self.port), use=lambda: self.all_well(lambda _: self.page("data") == data))

    @programs.needs("/usr/sbin/haproxy")
    def test_haproxy(self):
        self.serves(*programs.haproxy(self.folder, self.port), use=lambda: self.all_well(lambda k: self.page(f"page{k}") == b"at /page%d" % k),
                    status=-signal.SIGTERM)

    def resolve(self, k):
        """The whole answer, over TCP."""
        name = b"n%d" % k
        question = b"\0\7\1\0\0\1\0\0\0\0\0\0" + bytes([len(name)]) + name + b"\4test\0\0\1\0\1"
        with socket.create_connection(("127.0.0.1", self.port), timeout=SOON) as connection:
            connection.sendall(len(question).to_bytes(2, "big") + question)
            stream = connection.makefile("rb")
            return stream.read(int.from_bytes(stream.read(2), "big"))

    def resolve_all(self):
        self.all_well(lambda k: self.resolve(k).endswith(bytes([10, 0, 0, k])))

    @programs.needs("/usr/sbin/unbound")
    def test_unbound(self):
        self.serves(*programs.unbound(self.folder, self.port), use=self.resolve_all)

    @programs.needs("/usr/sbin/knotd")
    def test_knot(self):
        def use():
            end = time.monotonic() + SOON
            while not self.resolve(1).endswith(bytes([10, 0, 0, 1])):  # it has not read all by then
                self.assertLess(time.monotonic(), end, self.said())
            self.resolve_all()

        self.serves(*programs.knot(self.folder, self.port), use=use)
        self.assertNotIn("threads stay", self.said())

    @programs.needs("/usr/sbin/gearmand")
    def test_gearmand(self):
        def work(k):
            """Half of the clients ask, and the other half, which serve the same function, answer."""
            name = b"f%d" % (k // 2)
            with socket.create_connection(("127.0.0.1", self.port), timeout=SOON) as connection:
                stream = connection.makefile("rb")

                def send(kind, *words):
                    data = b"\0".join(words)
                    connection.sendall(b"\0REQ" + struct.pack(">II", kind, len(data)) + data)

                def receive(*expected):
                    while True:  # others may come first: that there is something to do, or the number of a job
                        kind, size = struct.unpack(">II", stream.read(12)[4:])
                        data = stream.read(size)
                        if kind in expected:
                            return kind, data

                if k % 2 == 0:
                    send(7, name, b"", b"what is asked")  # SUBMIT_JOB
                    return receive(13)[1].endswith(b"\0answer")  # WORK_COMPLETE
                send(1, name)  # CAN_DO
                kind = None
                while kind != 11:
                    send(9)  # GRAB_JOB
                    kind, data = receive(10, 11)  # NO_JOB, JOB_ASSIGN
                send(13, data.split(b"\0")[0], b"answer")
                return data.endswith(b"\0what is asked")

        self.serves(*programs.gearmand(self.folder, self.port), use=lambda: self.all_well(work))

    @programs.needs("/usr/sbin/apache2")
    def test_apache_with_a_thread_for_each_request(self):
        data = random.Random(1).randbytes(1 << 16)
        (self.folder / "data").write_bytes(data)
        self.serves(*programs.apache(self.folder, self.port), use=lambda: self.all_well(lambda _: self.page("data") == data))

    @programs.needs("/usr/sbin/mariadbd")
    @programs.needs("mariadb-install-db")
    @programs.needs("mariadb")
    def test_mariadb_with_a_thread_for_each_connection(self):
        def query(text):
            words = ("mariadb", "--no-defaults", f"-S{self.folder}/socket", "-uroot", "-N", "-e", text)
            return subprocess.run(words, capture_output=True, text=True, timeout=SOON, check=True).stdout

        def use():
            query("CREATE OR REPLACE DATABASE d; USE d; CREATE TABLE t (k INT PRIMARY KEY, n INT); INSERT INTO t SELECT seq, 0 FROM seq_1_to_100")
            with concurrent.futures.ThreadPoolExecutor(8) as clients:
                list(clients.map(lambda k: query(f"UPDATE d.t SET n = n + 1 WHERE k % 4 = {k % 4}"), range(16)))
            self.assertEqual(query("SELECT SUM(n), MIN(n), MAX(n) FROM d.t"), "400\t4\t4\n")

        self.serves(*programs.mariadb(self.folder, self.port), use=use)

    @programs.needs("iperf3")
    def test_iperf3(self):
        def use():
            for _ in range(10):  # it serves one client at a time, and turns others away until it has done with the connection that found it ready
                done = subprocess.run(["iperf3", "-c", "127.0.0.1", "-p", str(self.port), "-P", "2", "-n", "20M"], capture_output=True, text=True, timeout=SOON)
                if done.returncode == 0:
                    break
                time.sleep(0.2)
            self.assertEqual(done.returncode, 0, done)
            self.assertRegex(done.stdout, r"\[SUM\].*receiver")

        self.serves("iperf3", "-s", "-p", self.port, use=use, status=1)


if __name__ == "__main__":
    unittest.main()
