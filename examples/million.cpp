// SPDX-License-Identifier: Apache-2.0
//
// A million threads that are alive and blocked at once, then released: what one costs in time and
// memory.
#include "common/contest.hpp"
#include "common/progress.hpp"

#include <tulle/tulle.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <latch>
#include <thread>
#include <unistd.h>

namespace {

using namespace examples;
using namespace std::chrono_literals;

constexpr std::size_t k_guarded_stack = 16384;
constexpr std::size_t k_compact_stack = 1024; // of the class without guard pages
constexpr std::size_t k_pthreads = 10000;     // as many as a usual system lets a program have

struct cost {
    std::size_t threads;
    double block_seconds;   // from the first spawn until all are blocked
    double release_seconds; // from there until all have ended
    double bytes;           // resident, for each thread
    bool ok;
};

// Resident memory of this process in bytes.
double resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    double total = 0;
    double resident = 0;
    statm >> total >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// What differs: a Tulle thread must not put its worker to sleep, there may be no other.
struct tulle_kind {
    using latch = tulle::latch;
    static void pause() { tulle::this_thread::sleep_for(200us); }
};
struct pthread_kind {
    using latch = std::latch;
    static void pause() { std::this_thread::sleep_for(200us); }
};

// What the blocked threads share.
template <class Kind> struct crowd {
    explicit crowd(std::size_t n) : threads(n), ended(static_cast<std::ptrdiff_t>(n)) {}

    // The life of thread number i.
    void live(std::size_t i) {
        // relaxed, twice: a count that is polled, and a sum that the latch orders
        arrived.fetch_add(1, std::memory_order_relaxed);
        gate.wait();
        sum.fetch_add(i + 1, std::memory_order_relaxed);
        ended.count_down();
    }

    // Waits until all are about to block: what is left to them is to do so.
    void await_arrival(progress& shown) {
        std::size_t seen = 0;
        while (seen < threads) {
            Kind::pause();
            std::size_t const now = arrived.load(std::memory_order_relaxed);
            shown.advance(now - seen);
            seen = now;
        }
    }

    [[nodiscard]] bool all_ran() const {
        return sum.load(std::memory_order_relaxed) == threads * (threads + 1) / 2;
    }

    std::size_t threads;
    std::atomic<std::size_t> arrived{0};
    std::atomic<std::size_t> sum{0};
    typename Kind::latch gate{1};
    typename Kind::latch ended;
};

// Runs a crowd; spawn_all starts its threads.
template <class Kind, class SpawnAll>
cost measure(std::size_t n, char const* name, progress& shown, SpawnAll const& spawn_all) {
    crowd<Kind> people(n);
    cost result{n, 0, 0, 0, false};
    double const before = resident_bytes();
    shown.begin(std::string(name) + ": blocking", n);
    result.block_seconds = seconds_of([&] {
        spawn_all(people);
        people.await_arrival(shown);
    });
    result.bytes = (resident_bytes() - before) / static_cast<double>(n);
    shown.begin(std::string(name) + ": releasing");
    result.release_seconds = seconds_of([&] {
        people.gate.count_down();
        people.ended.wait();
    });
    result.ok = people.all_ran();
    return result;
}

cost measure_tulle(std::size_t n, std::size_t stack_size, progress& shown) {
    return measure<tulle_kind>(n, "tulle", shown, [n, stack_size](crowd<tulle_kind>& people) {
        tulle::spawn([n, stack_size, &people] {
            for (std::size_t i = 0; i < n; ++i)
                tulle::spawn_detached(tulle::attributes{.stack_size = stack_size},
                                      [i, &people] { people.live(i); });
        }).join();
    });
}

cost measure_pthreads(std::size_t n, progress& shown) {
    std::vector<std::thread> threads;
    threads.reserve(n);
    cost const result =
        measure<pthread_kind>(n, "std::thread", shown, [n, &threads](crowd<pthread_kind>& people) {
            for (std::size_t i = 0; i < n; ++i)
                threads.emplace_back([i, &people] { people.live(i); });
        });
    for (std::thread& t : threads) t.join();
    return result;
}

std::vector<figure> figures_of(std::string const& library, role kind, cost const& c) {
    double const per_thread = 1e9 / static_cast<double>(c.threads);
    return {{library + ", block", kind, c.block_seconds * per_thread, "ns/thread", c.ok},
            {library + ", release", kind, c.release_seconds * per_thread, "ns/thread", c.ok},
            {library + ", resident", kind, c.bytes, "bytes/thread", c.ok}};
}

// With the ratios to Tulle's figures, which come first and in the same order.
void append_peer(std::vector<figure>& figures, std::vector<figure> peer) {
    for (std::size_t i = 0; i < peer.size(); ++i) peer[i].reference = figures[i].value;
    figures.insert(figures.end(), peer.begin(), peer.end());
}

// The peer runs first: memory that Tulle gives back while it runs would make it look small.
bool show(std::size_t n, bool compact, common_options const& options) {
    std::vector<figure> peer;
    std::vector<figure> figures;
    {
        progress shown(options.progress);
        std::size_t const fewer = std::min(n, k_pthreads);
        if (options.peers)
            peer = figures_of(std::to_string(fewer) + " std::thread", role::peer,
                              measure_pthreads(fewer, shown));
        cost const c = measure_tulle(n, compact ? k_compact_stack : k_guarded_stack, shown);
        figures = figures_of("tulle", role::tulle, c);
        append_peer(figures, peer);
        figures.push_back({"tulle, block and release all", role::tulle,
                           c.block_seconds + c.release_seconds, "s", c.ok});
    }
    return print_figures(
        "million", std::to_string(n) + (compact ? " compact threads" : " threads with guard pages"),
        figures, options.tsv);
}

} // namespace

int main(int argc, char** argv) {
    command_line line{
        "Blocks many threads at once, then releases them; prints time and memory for each.",
        "million"};
    common_options options;
    std::size_t n = 1000000;
    bool compact = false;
    line.number("--threads", n, "how many", 1, 100000000);
    line.flag("--compact", compact, "stacks of 1 KiB without guard pages, instead of 16 KiB with");
    add_worker_options(line, options);
    line.flag("!--no-peers", options.peers, "do not measure std::thread");
    line.flag("--tsv", options.tsv,
              "print tab-separated values: program, input, library, role, value, unit, check");
    return line.run(argc, argv, [&] {
        runtime_session const session(options);
        return show(n, compact, options) ? k_exit_ok : k_exit_check_failed;
    });
}
