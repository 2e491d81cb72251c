# SPDX-License-Identifier: Apache-2.0
"""scripts/two-hosts: its two hosts, the end of its command, and that nothing is left."""
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

import planted

TWO_HOSTS = planted.PROJECT / "scripts/two-hosts"
CANNOT_BE_MADE = 125
PATIENCE = 60
NOBODY = 65534


def two_hosts(*words, **how):
    return subprocess.run([TWO_HOSTS, *words], capture_output=True, text=True, timeout=PATIENCE, check=False, **how)


def mounts_and_links():
    """Of this process; each interface of a namespace shows in /proc/net/dev, each namespace that has a name is mounted."""
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts, open("/proc/net/dev", encoding="utf-8") as links:
        return len(mounts.readlines()), len(links.readlines())


class Usage(unittest.TestCase):
    def test_help(self):
        done = two_hosts("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("usage: scripts/two-hosts [--three] COMMAND", done.stdout)

    def test_wrong_usage(self):
        for words in ((), ("--three",), ("--blah",), ("--three", "--blah")):
            done = two_hosts(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("usage: scripts/two-hosts [--three] COMMAND", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "not root anyway")
    def test_without_rights(self):
        with open(TWO_HOSTS, encoding="utf-8") as script:  # which such a user may be unable to open
            done = subprocess.run(["bash", "-s", "true"], stdin=script, capture_output=True, text=True, timeout=PATIENCE, check=False, user=NOBODY, cwd="/")
        self.assertEqual((done.returncode, done.stderr), (CANNOT_BE_MADE, "two-hosts: needs root\n"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_system_that_lacks_something(self):
        for ip, complaint in ((None, "two-hosts: needs the program `ip`\n"), ("echo 'no veth' >&2; exit 1", "no veth\ntwo-hosts: the hosts cannot be made\n")):
            with tempfile.TemporaryDirectory() as folder:
                for name in ("bash", "cat", "chmod", "dirname", "id", "mkdir", "mktemp", "mount", "rm", "true", "unshare"):
                    os.symlink(shutil.which(name), os.path.join(folder, name))
                if ip is not None:
                    with open(os.path.join(folder, "ip"), "w", encoding="ascii") as file:
                        file.write(f"#!/bin/sh\n{ip}\n")
                    os.chmod(file.name, stat.S_IRWXU)
                done = two_hosts("true", env={"PATH": folder})
                self.assertEqual((done.returncode, done.stderr), (CANNOT_BE_MADE, complaint))


class Hosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = two_hosts("true")
        if done.returncode == CANNOT_BE_MADE:
            raise unittest.SkipTest(done.stderr)

    def test_words_arrive_as_they_are(self):
        words = ["a  b", "", "it's", '"$HOME" `x`', "two\nlines", "-n", "*"]
        done = two_hosts(sys.executable, "-c", "import sys; print(sys.argv[1:])", *words)
        self.assertEqual(done.stdout, f"{words}\n")

    def test_input_and_environment_arrive(self):
        done = two_hosts("sh", "-c", 'echo "$SOME"; cat', input="text", env={**os.environ, "SOME": "value"})
        self.assertEqual(done.stdout, "value\ntext")

    def test_exit_code(self):
        for command, code in (("exit 7", 7), ("kill -KILL $$", -signal.SIGKILL), ("exec /nowhere/to/be/found", 127)):
            self.assertEqual(two_hosts("sh", "-c", command).returncode, code, command)

    def test_the_other_host(self):
        """What `a` sends to `b` arrives there, and not at who listens at the same port of `a`; files of /dev/shm are not seen."""
        script = """
import os, socket, subprocess, sys
agent = os.environ["HYDRA_LAUNCHER_EXEC"]
open("/dev/shm/of-a", "w").close()
here = socket.create_server(("", 7777))
there = subprocess.Popen([agent, "-x", "b", "cat /dev/shm/* 2>&1; hostname; exec " + sys.executable + " -c '"
    'import socket; s = socket.create_server(("", 7777)); print("listens", flush=True); c, _ = s.accept(); c.sendall(b"from b")' + "'"],
    stdout=subprocess.PIPE, text=True)
while (line := there.stdout.readline()) != "listens\\n": print(line.strip())
print(socket.gethostname(), socket.create_connection(("b", 7777), timeout=30).recv(99).decode())
"""
        done = two_hosts(sys.executable, "-c", script)
        self.assertEqual(done.stdout.splitlines(), ["cat: '/dev/shm/*': No such file or directory", "b", "a from b"], done)

    def test_three_hosts(self):
        """Each reaches the others."""
        script = """
for host in a b c; do $HYDRA_LAUNCHER_EXEC $host "hostname; exec $PYTHON -c '
import socket; s = socket.create_server((\\"\\", 7777)); c, _ = s.accept(); c, _ = s.accept()'" & done
for host in a b c; do
    for other in a b c; do
        [ $host = $other ] || $HYDRA_LAUNCHER_EXEC $host "exec $PYTHON -c '
import socket, time
for _ in range(500):
    try: socket.create_connection((\\"$other\\", 7777), timeout=30); break
    except ConnectionRefusedError: time.sleep(0.02)
else: raise SystemExit(1)'" || echo "$host does not reach $other"
    done
done
wait"""
        done = two_hosts("--three", "bash", "-c", script, env={**os.environ, "PYTHON": sys.executable})
        self.assertEqual((done.returncode, sorted(done.stdout.split())), (0, ["a", "b", "c"]), done)

    def test_several_pairs(self):
        both = [subprocess.Popen([TWO_HOSTS, "sh", "-c", "echo ready; read word; echo $word"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                for _ in range(2)]
        for each in both:
            self.assertEqual(each.stdout.readline(), "ready\n")
        self.assertEqual([each.communicate(word, timeout=PATIENCE)[0] for each, word in zip(both, ("one\n", "two\n"))], ["one\n", "two\n"])

    def test_nothing_is_left(self):
        before = mounts_and_links()
        self.assertEqual(two_hosts("true").returncode, 0)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            process = subprocess.Popen([TWO_HOSTS, "sh", "-c", "echo ready; exec sleep 1000"], stdout=subprocess.PIPE, text=True)
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(number)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, -number)
        self.assertEqual(mounts_and_links(), before)
        self.assertEqual([name for name in os.listdir("/run/netns") if name in ("a", "b", "c", "switch")], [])
        with open("/etc/hosts", encoding="utf-8") as file:
            self.assertNotIn("10.78.0.", file.read())


planted.main()
