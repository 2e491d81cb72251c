# SPDX-License-Identifier: Apache-2.0
"""What the tests of servers among the examples share: very many connections that are open at the same time, each with a thread of the server's."""
import contextlib
import os
import resource
import socket
import struct

COUNT = 10_000
OTHERS = 200  # descriptors of a process besides its connections
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: no port stays occupied


def raise_limit_of_descriptors(test):
    """Of this process, and of servers that it starts from now on. Skips the test where so many cannot be had."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < COUNT + OTHERS:
        test.skipTest(f"{COUNT} connections need {COUNT + OTHERS} descriptors, and the limit of this user is {hard} (ulimit -Hn)")
    if soft != resource.RLIM_INFINITY and soft < COUNT + OTHERS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (COUNT + OTHERS, hard))
        test.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))


def sockets_of(process):
    """How many it has open."""
    count = 0
    for descriptor in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(FileNotFoundError):  # it has been closed since
            count += os.readlink(f"/proc/{process}/fd/{descriptor}").startswith("socket:")
    return count


def status_of(process, key):
    """The number behind this word in /proc/PID/status."""
    with open(f"/proc/{process}/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key + ":"))


def connect(port):
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    connection.settimeout(60)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    connection.connect(("127.0.0.1", port))
    return connection


def receive(connection, size):
    got = b""
    while len(got) < size and (part := connection.recv(size - len(got))):
        got += part
    return got


def check_held_connections(test, process, port, exchange, most_bytes):
    """exchange(k): what is sent on the connection k, and the answer to that. Each connection is answered twice, and all are open between these; one takes
    at most so many bytes of the server's memory."""
    connections = []
    test.addCleanup(lambda: [connection.close() for connection in connections])

    def each_is_answered(numbers):
        for k in numbers:
            connections[k].sendall(exchange(k)[0])
        for k in numbers:
            answer = exchange(k)[1]
            test.assertEqual(receive(connections[k], len(answer)), answer, f"connection {k}")

    connections.append(connect(port))
    each_is_answered(range(1))  # what the server makes for the first one is there
    before = status_of(process, "VmRSS")
    connections.extend(connect(port) for _ in range(COUNT - 1))
    each_is_answered(range(COUNT))
    test.assertGreaterEqual(sockets_of(process), COUNT)
    test.assertLess(status_of(process, "Threads"), 40)  # of the system
    test.assertLess(1024 * (status_of(process, "VmRSS") - before) / COUNT, most_bytes)
    each_is_answered(reversed(range(COUNT)))
    for connection in connections:
        connection.close()
