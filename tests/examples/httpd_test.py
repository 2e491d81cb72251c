#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""httpd serves the files below its folder, whole, and nothing else."""
import http.client
import os
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
from example_program import PROGRAM, ProgramTest, main, program_test  # noqa: E402
from held_connections import COUNT, check_held_connections, raise_limit_of_descriptors  # noqa: E402

program_test("httpd")


class Httpd(ProgramTest):
    def start(self, *words):
        process = subprocess.Popen([PROGRAM, self.folder.name, *map(str, words)], stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.port = int(process.stdout.readline().split()[1])
        return process

    def ask(self, text):
        """All that comes back for this text."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            got = b""
            while part := connection.recv(65536):
                got += part
            return got

    def test_common_options(self):
        self.checks_common_options(self.folder.name)

    def test_a_folder_that_is_none(self):
        self.fails(self.folder.name + "/none", message=b"cannot serve '" + self.folder.name.encode() + b"/none': No such file or directory")
        self.write("file", b"")
        self.fails(self.folder.name + "/file", message=b"Not a directory")

    def test_files_over_one_connection(self):
        big = os.urandom(1 << 20)
        self.write("big", big)
        self.write("empty", b"")
        process = self.start("--workers", 2, "--connections", 1)
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        for name, content in (("big", big), ("empty", b""), ("big", big)):
            client.request("GET", f"/{name}")
            answer = client.getresponse()
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.read(), content)
        client.request("HEAD", "/big")
        answer = client.getresponse()
        self.assertEqual((answer.status, answer.getheader("Content-Length"), answer.read()), (200, str(1 << 20), b""))
        for name in ("none", "", "."):
            client.request("GET", f"/{name}")
            answer = client.getresponse()
            self.assertEqual((answer.status, answer.read()), (404, b""))
        client.request("PUT", "/big")
        self.assertEqual(client.getresponse().status, 501)
        client.close()
        self.assertEqual(process.wait(60), 0)

    def test_ten_thousand_connections_are_held(self):
        raise_limit_of_descriptors(self)
        for k in range(100):
            self.write(f"file{k}", f"the content of {k}".encode())
        process = self.start("--workers", 2, "--connections", COUNT)

        def exchange(k):
            content = f"the content of {k % 100}".encode()
            return f"GET /file{k % 100} HTTP/1.1\r\n\r\n".encode(), f"HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content

        own = 2 * 4096  # what the thread of a connection has written to in its two buffers, in pages
        check_held_connections(self, process.pid, self.port, exchange, own + 10240)
        self.assertEqual(process.wait(60), 0)

    def test_requests_that_are_no_good(self):
        self.write("there", b"it is")
        self.start("--workers", 1)
        for text in (b"GET\r\n\r\n", b"\r\n\r\n", b"GET there HTTP/1.1\r\n\r\n", b"GET /../etc/passwd HTTP/1.1\r\n\r\n"):
            self.assertTrue(self.ask(text).startswith(b"HTTP/1.1 400 "), text)
        self.assertEqual(self.ask(b"GET /there HTTP/1.1\r\n"), b"")  # it ends too early
        self.assertEqual(self.ask(b"x" * 8192), b"")  # and this has no end
        together = self.ask(b"GET /there HTTP/1.1\r\n\r\nGET /there HTTP/1.0\r\n\r\nGET /there HTTP/1.1\r\n\r\n")
        self.assertEqual(together.count(b"it is"), 2)  # the second one ends the connection
        self.assertEqual(self.ask(b"GET /there HTTP/1.1\r\nConnection: close\r\n\r\nGET /there HTTP/1.1\r\n\r\n").count(b"it is"), 1)


if __name__ == "__main__":
    main()
