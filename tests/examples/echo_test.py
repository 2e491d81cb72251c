#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""echo sends back what it gets, over many connections at the same time, and holds on to none that has ended."""
import resource
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
from example_program import PROGRAM, ProgramTest, main, program_test  # noqa: E402
from held_connections import COUNT, check_held_connections, raise_limit_of_descriptors, receive, sockets_of  # noqa: E402

program_test("echo")


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline().split()[1])

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def descriptors(self):
        return sockets_of(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Echo(ProgramTest):
    def test_common_options(self):
        self.checks_common_options()

    def test_bad_input(self):
        self.fails("--port", "65536", message=b"--port")
        self.fails("--most", "0", message=b"--most")

    def test_many_connections(self):
        for workers in (1, 2):
            count = 300
            with Server("--workers", workers, "--connections", count) as server:
                connections = [server.connect() for _ in range(count)]
                for round_number in range(3):
                    texts = [f"{round_number}:{k}".encode() * (1 + k * 7) for k in range(count)]
                    for connection, text in zip(connections, texts):
                        connection.sendall(text)
                    for connection, text in zip(connections, texts):
                        self.assertEqual(receive(connection, len(text)), text)
                for connection in connections:
                    connection.close()
                self.assertEqual(server.process.wait(60), 0)

    def test_ten_thousand_connections_are_held(self):
        raise_limit_of_descriptors(self)
        with Server("--workers", 2, "--stack", 16, "--connections", COUNT) as server:
            check_held_connections(self, server.process.pid, server.port, lambda k: (f"{k:6}".encode() * 2,) * 2, 10240)
            self.assertEqual(server.process.wait(60), 0)

    def test_half_closed_and_vanished_connections(self):
        with Server("--workers", 2) as server:
            before = server.descriptors()
            half = server.connect()
            half.sendall(b"to the end")
            half.shutdown(socket.SHUT_WR)
            self.assertEqual(receive(half, 100), b"to the end")
            half.close()
            for _ in range(20):
                gone = server.connect()
                gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                gone.sendall(b"x" * 100000)
                gone.close()  # with a reset
            last = server.connect()
            last.sendall(b"there?")
            self.assertEqual(receive(last, 6), b"there?")
            last.close()
            for _ in range(1000):
                if server.descriptors() == before:
                    break
                subprocess.run(["sleep", "0.01"], check=True)
            self.assertEqual(server.descriptors(), before)

    def test_waits_where_descriptors_are_short(self):
        most = 40

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

        process = subprocess.Popen([PROGRAM, "--workers", "1"], stdout=subprocess.PIPE, preexec_fn=limit)
        try:
            port = int(process.stdout.readline().split()[1])
            connections = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(2 * most)]
            connections[0].sendall(b"first")
            self.assertEqual(receive(connections[0], 5), b"first")
            connections[-1].sendall(b"last")
            for connection in connections[:-1]:
                connection.close()
            self.assertEqual(receive(connections[-1], 4), b"last")
            connections[-1].close()
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_only_so_many_are_open(self):
        with Server("--workers", 1, "--most", 2) as server:
            first, second, third = (server.connect() for _ in range(3))
            third.sendall(b"third")
            third.settimeout(0.2)
            with self.assertRaises(socket.timeout):
                third.recv(5)
            first.close()
            third.settimeout(60)
            self.assertEqual(receive(third, 5), b"third")
            second.close()
            third.close()


if __name__ == "__main__":
    main()
