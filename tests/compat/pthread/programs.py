# SPDX-License-Identifier: Apache-2.0
"""What packaged programs are given to do, and how packaged servers are started, by the tests here and by scripts/pthread-figures."""
import shutil
import socket
import subprocess
import unittest

PYTHON = "/usr/bin/python3"

PYTHON_SERVER = """
import http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words): pass
class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 200
Server(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
"""

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

NEVER_WAITING_PROGRAM = """
import os, socket, threading
ends = socket.socketpair()
for end in ends: end.setblocking(False)
got = []
def exchange():
    for k in range(1000):
        os.write(ends[k % 2].fileno(), b'x')
        got.append(os.read(ends[1 - k % 2].fileno(), 10))
thread = threading.Thread(target=exchange)
thread.start()
thread.join()
print(got.count(b'x'))
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


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


# How a server is started that listens to a port, and has its files in a folder. Pages are those of the folder.
def redis(folder, port):
    return "redis-server", "--port", port, "--save", "", "--dir", folder


def python(_, port):
    return PYTHON, "-c", PYTHON_SERVER, port


def memcached(_, port):
    return "memcached", "-u", "root", "-l", "127.0.0.1", "-p", port, "-t", 4


def nginx(folder, port):
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "conf").write_text(
        f"daemon off; user root; worker_processes 1; pid {folder}/pid; error_log {folder}/errors; thread_pool default threads=8;\n"
        f"events {{ worker_connections 200; }}\n"
        f"http {{ access_log off; {temporary} server {{ listen 127.0.0.1:{port};\n"
        f"location / {{ root {folder}; aio threads; sendfile off; }} }} }}\n")
    return "nginx", "-c", folder / "conf"


def haproxy(folder, port):
    (folder / "conf").write_text(
        "global\n nbthread 4\ndefaults\n mode http\n timeout client 20s\n timeout server 20s\n timeout connect 20s\n"
        f"frontend all\n bind 127.0.0.1:{port}\n http-request return status 200 content-type text/plain lf-string \"at %[path]\"\n")
    return "/usr/sbin/haproxy", "-db", "-f", folder / "conf"


def unbound(folder, port):
    names = "".join(f'local-data: "n{k}.test. A 10.0.0.{k}"\n' for k in range(200))
    (folder / "conf").write_text(
        f"server:\nnum-threads: 4\ninterface: 127.0.0.1@{port}\nusername: \"\"\nchroot: \"\"\ndirectory: \"{folder}\"\n"
        f"pidfile: \"\"\nuse-syslog: no\ndo-daemonize: no\nlocal-zone: \"test.\" static\n{names}remote-control:\ncontrol-enable: no\n")
    return "/usr/sbin/unbound", "-d", "-c", folder / "conf"


def knot(folder, port):
    (folder / "test.zone").write_text("test. 60 SOA ns.test. root.test. 1 60 60 60 60\ntest. 60 NS ns.test.\nns.test. 60 A 127.0.0.1\n" +
                                      "".join(f"n{k}.test. 60 A 10.0.0.{k}\n" for k in range(200)))
    (folder / "conf").write_text(
        f"server:\n  rundir: {folder}\n  listen: 127.0.0.1@{port}\n  udp-workers: 2\n  tcp-workers: 2\n  background-workers: 2\n"
        f"database:\n  storage: {folder}/made\ntemplate:\n  - id: default\n    storage: {folder}\n    file: \"%s.zone\"\nzone:\n  - domain: test\n")
    return "/usr/sbin/knotd", "-c", folder / "conf"


def gearmand(_, port):
    return "/usr/sbin/gearmand", "-L", "127.0.0.1", "-p", port, "-t", 4, "-l", "stderr"


def apache(folder, port):
    threads, modules = 16, "/usr/lib/apache2/modules"
    (folder / "conf").write_text(
        f"ServerName localhost\nServerRoot {folder}\nListen 127.0.0.1:{port}\nPidFile {folder}/pid\nErrorLog {folder}/errors\n"
        f"LoadModule mpm_event_module {modules}/mod_mpm_event.so\nLoadModule authz_core_module {modules}/mod_authz_core.so\n"
        f"StartServers 1\nServerLimit 1\nThreadsPerChild {threads}\nMaxRequestWorkers {threads}\nDocumentRoot {folder}\n"
        f"<Directory {folder}>\nRequire all granted\n</Directory>\n")
    return "/usr/sbin/apache2", "-f", folder / "conf", "-DFOREGROUND"


def mariadb(folder, port):
    made = folder / "database"
    subprocess.run(["mariadb-install-db", "--no-defaults", f"--datadir={made}", "--user=root", "--auth-root-authentication-method=normal",
                    "--skip-test-db"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return ("/usr/sbin/mariadbd", "--no-defaults", f"--datadir={made}", "--user=root", f"--port={port}", "--bind-address=127.0.0.1",
            f"--socket={folder}/socket", "--innodb-buffer-pool-size=16M")
