// SPDX-License-Identifier: Apache-2.0
// Java virtual threads as a peer: one program for all workloads, `Peer WORKLOAD [--workers N] [--runs K] [--n SIZE]
// [--quick]`, with the same figures in the same JSON lines as the other benchmark programs. Needs Java 21.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

public final class Peer {
    record Settings(int workers, int runs, int n) {}

    /** A quantity in each run. */
    record Figure(String unit, double[] values) {}

    record Outcome(boolean ok, Figure... figures) {}

    interface Body {
        Outcome run(Settings s) throws Exception;
    }

    /** `warm`: a first run is thrown away, as the compiler of the virtual machine is at work in it. */
    record Workload(int full, int quick, boolean warm, Body body) {}

    private static final Map<String, Workload> WORKLOADS = Map.ofEntries(
        Map.entry("fib", new Workload(22, 16, true, Peer::fib)),
        Map.entry("yield", new Workload(1_000_000, 50_000, true, Peer::yield)),
        Map.entry("create-one", new Workload(50_000, 10_000, true, Peer::createOne)),
        Map.entry("create-many", new Workload(1_000_000, 50_000, false, Peer::createMany)),
        Map.entry("blocked", new Workload(1_000_000, 20_000, false, Peer::blocked)),
        Map.entry("mutex", new Workload(10_000_000, 500_000, true, Peer::mutex)),
        Map.entry("mutex-contended", new Workload(4_000_000, 80_000, true, Peer::mutexContended)),
        Map.entry("quicksort", new Workload(2_000_000, 200_000, true, Peer::quicksort)),
        Map.entry("nqueens", new Workload(13, 9, true, Peer::nqueens)),
        Map.entry("idle", new Workload(2000, 200, false, Peer::idle)),
        Map.entry("wake", new Workload(300, 30, false, Peer::wake)));

    private Peer() {}

    // ---- threads and time

    private static Thread start(Runnable body) {
        return Thread.startVirtualThread(body);
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static double secondsOf(Runnable body) {
        long begin = System.nanoTime();
        body.run();
        return 1e-9 * (System.nanoTime() - begin);
    }

    /** Each workload runs in a virtual thread; this waits for it. */
    private static double inside(Runnable body) {
        double[] time = new double[1];
        join(start(() -> time[0] = secondsOf(body)));
        return time[0];
    }

    // ---- what the operating system says

    private static double procBytes(String path, String key) throws IOException {
        for (String line : Files.readAllLines(Path.of(path)))
            if (line.startsWith(key)) return 1024 * Double.parseDouble(line.substring(key.length()).trim().split(" ")[0]);
        return 0;
    }

    private static double resident() throws IOException {
        return procBytes("/proc/self/smaps_rollup", "Rss:");
    }

    private static double processorSeconds() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0; // user and system time, in ticks
    }

    // ---- workloads

    private static long fibSerial(int n) {
        return n < 2 ? n : fibSerial(n - 1) + fibSerial(n - 2);
    }

    private static long fibThreads(int n) {
        if (n < 2) return n;
        long[] child = new long[1];
        Thread thread = start(() -> child[0] = fibThreads(n - 1));
        long mine = fibThreads(n - 2);
        join(thread);
        return child[0] + mine;
    }

    private static Outcome fib(Settings s) {
        double[] cost = new double[s.runs];
        double[] elapsed = new double[s.runs];
        long[] result = new long[2];
        boolean ok = true;
        inside(() -> fibThreads(Math.min(s.n, 14)));
        for (int i = 0; i < s.runs; i++) {
            double serial = secondsOf(() -> result[0] = fibSerial(s.n));
            elapsed[i] = inside(() -> result[1] = fibThreads(s.n));
            cost[i] = 1e9 * (elapsed[i] - serial) / (fibSerial(s.n + 1) - 1);
            ok &= result[0] == result[1];
        }
        return new Outcome(ok, new Figure("ns/spawn", cost), new Figure("s", elapsed));
    }

    private static void yieldTimes(int times) {
        for (int k = 0; k < times; k++) Thread.yield();
    }

    private static Outcome yield(Settings s) {
        double[] cost = new double[s.runs];
        for (int i = 0; i < s.runs; i++) {
            double time = inside(() -> {
                Thread one = start(() -> yieldTimes(s.n / 2));
                Thread two = start(() -> yieldTimes(s.n / 2));
                join(one);
                join(two);
            });
            cost[i] = 1e9 * time / s.n;
        }
        return new Outcome(true, new Figure("ns", cost));
    }

    private static Outcome createOne(Settings s) {
        double[] cost = new double[s.runs];
        boolean ok = true;
        for (int i = 0; i < s.runs; i++) {
            long[] ran = new long[1];
            double time = inside(() -> {
                for (int k = 0; k < s.n; k++) join(start(() -> ran[0]++));
            });
            cost[i] = 1e9 * time / s.n;
            ok &= ran[0] == s.n;
        }
        return new Outcome(ok, new Figure("ns", cost));
    }

    /** A memory figure needs a process of its own: one run is made. */
    private static Outcome createMany(Settings s) throws IOException {
        double before = resident();
        AtomicLong ran = new AtomicLong();
        double time = inside(() -> {
            Thread[] threads = new Thread[s.n];
            for (int k = 0; k < s.n; k++) threads[k] = start(ran::incrementAndGet);
            for (Thread thread : threads) join(thread);
        });
        double bytes = Math.max(0, procBytes("/proc/self/status", "VmHWM:") - before) / s.n;
        return new Outcome(ran.get() == s.n, new Figure("ns", new double[] {1e9 * time / s.n}),
                           new Figure("bytes", new double[] {bytes}));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Outcome blocked(Settings s) throws IOException {
        double before = resident();
        CountDownLatch arrived = new CountDownLatch(s.n);
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch left = new CountDownLatch(s.n);
        double gather = secondsOf(() -> {
            for (int k = 0; k < s.n; k++) {
                start(() -> {
                    arrived.countDown();
                    await(gate);
                    left.countDown();
                });
            }
            await(arrived);
        });
        double bytes = (resident() - before) / s.n;
        double release = secondsOf(() -> {
            gate.countDown();
            await(left);
        });
        return new Outcome(true, new Figure("s", new double[] {gather + release}), new Figure("bytes", new double[] {bytes}));
    }

    private static final class Counter {
        final ReentrantLock lock = new ReentrantLock();
        long count;

        void add(int times) {
            for (int k = 0; k < times; k++) {
                lock.lock();
                count++;
                lock.unlock();
            }
        }

        long addWatched(int times) {
            long longest = 0;
            for (int k = 0; k < times; k++) {
                long asked = System.nanoTime();
                lock.lock();
                longest = Math.max(longest, System.nanoTime() - asked);
                count++;
                lock.unlock();
            }
            return longest;
        }
    }

    private static Outcome mutex(Settings s) {
        double[] cost = new double[s.runs];
        boolean ok = true;
        inside(() -> new Counter().add(100_000));
        for (int i = 0; i < s.runs; i++) {
            Counter counter = new Counter();
            cost[i] = 1e9 * inside(() -> counter.add(s.n)) / s.n;
            ok &= counter.count == s.n;
        }
        return new Outcome(ok, new Figure("ns", cost));
    }

    private static final int CONTENDERS = 8;

    private static Outcome mutexContended(Settings s) {
        double[] cost = new double[s.runs];
        double[] wait = new double[s.runs];
        int each = s.n / CONTENDERS;
        boolean ok = true;
        for (int i = 0; i < s.runs; i++) {
            Counter counter = new Counter();
            cost[i] = 1e9 * inside(() -> all(t -> counter.add(each))) / (each * CONTENDERS);
            long[] longest = new long[CONTENDERS];
            inside(() -> all(t -> longest[t] = counter.addWatched(each)));
            wait[i] = 1e-6 * Arrays.stream(longest).max().orElse(0);
            ok &= counter.count == 2L * each * CONTENDERS;
        }
        return new Outcome(ok, new Figure("ns", cost), new Figure("ms longest wait", wait));
    }

    private static void all(java.util.function.IntConsumer body) {
        Thread[] threads = new Thread[CONTENDERS];
        for (int t = 0; t < CONTENDERS; t++) {
            int mine = t;
            threads[t] = start(() -> body.accept(mine));
        }
        for (Thread thread : threads) join(thread);
    }

    /** The splitmix64 sequence, as the other programs have it. */
    private static double element(long i) {
        long z = 1 + (i + 1) * 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return ((z ^ (z >>> 31)) >>> 11) * 0x1p-53;
    }

    private static int partition(double[] data, int begin, int end) {
        double first = data[begin];
        double middle = data[begin + (end - begin) / 2];
        double last = data[end - 1];
        double pivot = Math.max(Math.min(first, middle), Math.min(Math.max(first, middle), last));
        int cut = begin;
        for (int i = begin; i < end; i++) {
            double x = data[i];
            if (x < pivot) {
                data[i] = data[cut];
                data[cut++] = x;
            }
        }
        return cut;
    }

    private static void sortThreads(double[] data, int begin, int end) {
        int cut = end - begin <= 1000 ? begin : partition(data, begin, end);
        if (cut == begin) {
            Arrays.sort(data, begin, end);
            return;
        }
        Thread low = start(() -> sortThreads(data, begin, cut));
        sortThreads(data, cut, end);
        join(low);
    }

    private static Outcome quicksort(Settings s) {
        double[] elapsed = new double[s.runs];
        double[] data = new double[s.n];
        boolean ok = true;
        for (int i = -1; i < s.runs; i++) { // run -1 warms up
            for (int k = 0; k < s.n; k++) data[k] = element(k);
            double time = inside(() -> sortThreads(data, 0, s.n));
            if (i >= 0) elapsed[i] = time;
            for (int k = 1; k < s.n; k++) ok &= data[k - 1] <= data[k];
        }
        return new Outcome(ok, new Figure("s", elapsed));
    }

    private static long queensSerial(int free, int all, int columns, int left, int right, int rows) {
        if (rows == 0) return 1;
        long count = 0;
        for (int squares = free; squares != 0; squares &= squares - 1) {
            int square = squares & -squares;
            int l = (left | square) << 1;
            int r = (right | square) >>> 1;
            int c = columns | square;
            count += queensSerial(all & ~(c | l | r), all, c, l, r, rows - 1);
        }
        return count;
    }

    /** A thread per square, until four rows are left. */
    private static long queensThreads(int all, int columns, int left, int right, int rows) {
        int free = all & ~(columns | left | right);
        if (rows <= 4) return queensSerial(free, all, columns, left, right, rows);
        int children = Integer.bitCount(free);
        Thread[] threads = new Thread[children];
        long[] counts = new long[children];
        int squares = free;
        for (int t = 0; t < children; t++, squares &= squares - 1) {
            int square = squares & -squares;
            int mine = t;
            threads[t] = start(() -> counts[mine] =
                queensThreads(all, columns | square, (left | square) << 1, (right | square) >>> 1, rows - 1));
        }
        for (Thread thread : threads) join(thread);
        return Arrays.stream(counts).sum();
    }

    private static Outcome nqueens(Settings s) {
        int all = (1 << s.n) - 1;
        long expected = queensSerial(all, all, 0, 0, 0, s.n);
        double[] elapsed = new double[s.runs];
        long[] count = new long[1];
        boolean ok = true;
        for (int i = 0; i < s.runs; i++) {
            elapsed[i] = inside(() -> count[0] = queensThreads(all, 0, 0, 0, s.n));
            ok &= count[0] == expected;
        }
        return new Outcome(ok, new Figure("s", elapsed));
    }

    private static Outcome idle(Settings s) throws Exception {
        double[] load = new double[s.runs];
        for (int i = 0; i < s.runs; i++) {
            inside(() -> { });
            Thread.sleep(20);
            double used = processorSeconds();
            long begin = System.nanoTime();
            Thread.sleep(s.n);
            load[i] = 100 * (processorSeconds() - used) / (1e-9 * (System.nanoTime() - begin));
        }
        return new Outcome(true, new Figure("% CPU", load));
    }

    private static Outcome wake(Settings s) throws Exception {
        double[] cost = new double[s.runs];
        for (int i = 0; i < s.runs; i++) {
            double[] samples = new double[s.n];
            for (int k = 0; k < s.n; k++) {
                Thread.sleep(2);
                long[] ran = new long[1];
                long posted = System.nanoTime();
                join(start(() -> ran[0] = System.nanoTime()));
                samples[k] = 1e-3 * (ran[0] - posted);
            }
            cost[i] = median(samples);
        }
        return new Outcome(true, new Figure("us", cost));
    }

    // ---- command line and output

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    private static void fail(String complaint) {
        System.err.println("peer: " + complaint);
        System.exit(2);
    }

    private static Settings parse(String[] words, Workload workload) {
        int workers = 1;
        int runs = 5;
        int n = 0;
        boolean quick = false;
        for (int i = 1; i < words.length; i++) {
            if (words[i].equals("--quick")) {
                quick = true;
                continue;
            }
            int value = i + 1 < words.length ? Integer.parseInt(words[i + 1]) : 0;
            if (value < 1) fail(words[i] + " needs a number of at least 1");
            switch (words[i++]) {
                case "--workers" -> workers = value;
                case "--runs" -> runs = value;
                case "--n" -> n = value;
                default -> fail("unknown option " + words[i - 1]);
            }
        }
        if (n == 0) n = quick ? workload.quick : workload.full;
        return new Settings(workers, runs, n);
    }

    private static void print(String bench, Settings s, Figure f, boolean ok) {
        System.out.printf(java.util.Locale.ROOT,
            "{\"bench\": \"%s\", \"library\": \"java\", \"workers\": %d, \"places\": 1, \"n\": %d, \"value\": %.9f, "
                + "\"min\": %.9f, \"max\": %.9f, \"unit\": \"%s\", \"runs\": %d, \"ok\": %b}%n",
            bench, s.workers, s.n, median(f.values), Arrays.stream(f.values).min().orElse(0),
            Arrays.stream(f.values).max().orElse(0), f.unit, f.values.length, ok);
    }

    public static void main(String[] words) throws Exception {
        Workload workload = words.length > 0 ? WORKLOADS.get(words[0]) : null;
        if (workload == null) {
            fail("which workload? " + WORKLOADS.keySet());
            return;
        }
        Settings s = parse(words, workload);
        // Read when the first virtual thread starts.
        System.setProperty("jdk.virtualThreadScheduler.parallelism", Integer.toString(s.workers));
        System.setProperty("jdk.virtualThreadScheduler.maxPoolSize", Integer.toString(s.workers));
        if (workload.warm) workload.body.run(new Settings(s.workers, 1, s.n));
        Outcome outcome = workload.body.run(s);
        for (Figure f : outcome.figures) print(words[0], s, f, outcome.ok);
        System.exit(outcome.ok ? 0 : 1);
    }
}
