# SPDX-License-Identifier: Apache-2.0
"""A VNC server of one picture and one client (RFB 3.8, RFC 6143, no password, raw pixels): what gvnccapture of packages_test.py asks."""
import socket
import struct
import threading

WIDTH, HEIGHT = 64, 48
BYTES_OF_MESSAGE = {0: 19, 3: 9, 4: 7, 5: 5}  # behind the type: SetPixelFormat, update request, key, pointer
TRUE_COLOUR_32 = struct.pack(">BBBBHHHBBB3x", 32, 24, 0, 1, 255, 255, 255, 16, 8, 0)


class VncServer(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.bytes_of_pixel = 4

    def run(self):
        self.connection, _ = self.listener.accept()
        try:
            self.greet()
            while True:
                self.answer(self.take(1)[0])
        except ConnectionError:
            pass

    def take(self, count):
        data = b""
        while len(data) < count:
            more = self.connection.recv(count - len(data))
            if not more:
                raise ConnectionError
            data += more
        return data

    def greet(self):
        self.connection.sendall(b"RFB 003.008\n")
        self.take(12)
        self.connection.sendall(b"\x01\x01")  # one security type: none
        self.take(1)
        self.connection.sendall(struct.pack(">I", 0))
        self.take(1)
        self.connection.sendall(struct.pack(">HH", WIDTH, HEIGHT) + TRUE_COLOUR_32 + struct.pack(">I", 4) + b"test")

    def answer(self, kind):
        if kind == 2:  # SetEncodings
            self.take(4 * struct.unpack(">xH", self.take(3))[0])
            return
        message = self.take(BYTES_OF_MESSAGE[kind])
        if kind == 0:
            self.bytes_of_pixel = message[3] // 8
        if kind == 3:
            pixels = bytes(k % 251 for k in range(WIDTH * HEIGHT * self.bytes_of_pixel))
            self.connection.sendall(struct.pack(">BxHHHHHi", 0, 1, 0, 0, WIDTH, HEIGHT, 0) + pixels)
