// SPDX-License-Identifier: Apache-2.0
// A program of several places whose first argument says what they do; it finds its own results
// right. Driven by hosts_test.py.
//   exchange      arguments and results of all sizes between all places, exceptions, activities
//                 that start activities everywhere compute N     place 1 computes for N ms with all
//                 its workers, and place 0 reads memory of it meanwhile
//   stop          main ends while place 1 is stopped
//   memory        all places add to words of all places; prints how many of them place 0 reaches by
//                 loads and stores call N        round trips of an empty call, in rounds of N
// For each of compute and call it prints the median and the longest time, in microseconds.
#include <tulle.h>
#include <tulle/tulle.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using clock_type = std::chrono::steady_clock;
using bytes = std::vector<std::uint8_t>;

int number = 0; // the second argument

[[noreturn]] void fail(std::string const& what) {
    std::fprintf(stderr, "work: %s\n", what.c_str());
    std::exit(EXIT_FAILURE);
}

double us_since(clock_type::time_point begin) {
    return std::chrono::duration<double, std::micro>(clock_type::now() - begin).count();
}

void print_times(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    std::printf("%zu times, median %.1f us, longest %.1f us\n", times.size(),
                times[times.size() / 2], times.back());
}

bytes some_bytes(std::size_t count, std::uint32_t seed) {
    bytes made(count);
    for (std::uint8_t& b : made) {
        seed = seed * 1664525 + 1013904223;
        b = static_cast<std::uint8_t>(seed >> 24U);
    }
    return made;
}

bytes reversed(bytes b) {
    std::reverse(b.begin(), b.end());
    return b;
}

void exchange_with(tulle::place with, std::size_t size) {
    bytes sent = some_bytes(size, static_cast<std::uint32_t>(size));
    bytes const got = tulle::at(
        with, [](bytes b) { return reversed(std::move(b)); }, sent);
    std::reverse(sent.begin(), sent.end());
    if (got != sent)
        fail(std::to_string(size) + " bytes have changed on the way to place " +
             std::to_string(with.index()) + " and back");
}

void exchange_with_all() {
    for (std::size_t const size :
         {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{4000}, std::size_t{4096},
          std::size_t{4097}, std::size_t{70'000}, std::size_t{1'000'000}, std::size_t{5'000'000}})
        for (tulle::place const p : tulle::places()) exchange_with(p, size);
}

std::atomic<int> visits{0};

void visit_all(int depth) {
    ++visits;
    if (depth == 0) return;
    for (tulle::place const p : tulle::places())
        tulle::this_activity::async_at(
            p, [](int left) { visit_all(left); }, depth - 1);
}

int exchange() {
    exchange_with_all();
    // From all places to all others at once.
    tulle::finish([](tulle::activities& all) {
        for (tulle::place const p : tulle::places()) all.async_at(p, [] { exchange_with_all(); });
    });
    constexpr int k_depth = 4;
    tulle::finish([](tulle::activities& all) { all.async([] { visit_all(k_depth); }); });
    int found = 0;
    for (tulle::place const p : tulle::places())
        found += tulle::at(p, [] { return visits.load(); });
    int expected = 0;
    for (int k = 0, level = 1; k <= k_depth; ++k, level *= tulle::place_count()) expected += level;
    if (found != expected)
        fail(std::to_string(found) + " visits instead of " + std::to_string(expected));
    for (tulle::place const p : tulle::places()) try {
            tulle::at(p, [] { throw std::out_of_range("from far away"); });
            fail("an exception is lost");
        } catch (std::out_of_range const& e) {
            if (std::string(e.what()).find("from far away") == std::string::npos) fail(e.what());
        }
    std::printf("%d places have exchanged\n", tulle::place_count());
    return EXIT_SUCCESS;
}

int memory() {
    constexpr long k_adds = 2000;
    int reached = 0;
    for (tulle::place const of : tulle::places()) {
        auto const word = tulle::allocate_global_at<long>(of);
        tulle::exchange(word, 0L);
        reached += word.local() != nullptr ? 1 : 0;
        tulle::finish([&](tulle::activities& all) {
            for (tulle::place const p : tulle::places())
                all.async_at(
                    p,
                    [](tulle::global_ptr<long> to) {
                        for (long k = 0; k < k_adds; ++k) tulle::fetch_add(to, 1L);
                    },
                    word);
        });
        if (tulle::fetch_add(word, 0L) != k_adds * tulle::place_count())
            fail("additions are lost at place " + std::to_string(of.index()));
        tulle::free_global(word);
    }
    std::printf("%d places, %d reached\n", tulle::place_count(), reached);
    return EXIT_SUCCESS;
}

std::atomic<std::uint64_t> state{0}; // of this place: 1 while it computes, 2 then

void compute_for(int ms) {
    auto const end = clock_type::now() + std::chrono::milliseconds(ms);
    state = 1;
    while (clock_type::now() < end) {}
    state = 2;
}

int compute() {
    tulle::place const other(1);
    auto const there = tulle::at(other, [] { return reinterpret_cast<std::uintptr_t>(&state); });
    std::vector<double> times;
    tulle::finish([&](tulle::activities& all) {
        all.async_at(
            other,
            [](int ms) {
                for (int k = 1; k < tulle::worker_count(); ++k)
                    tulle::spawn_detached([ms]() noexcept { compute_for(ms); });
                compute_for(ms);
            },
            number);
        for (std::uint64_t seen = 0; seen != 2;) {
            auto const begin = clock_type::now();
            if (tulle_pull(&seen, 1, reinterpret_cast<void const*>(there), sizeof seen) != 0)
                fail("memory of place 1 cannot be read");
            if (seen == 1) times.push_back(us_since(begin));
        }
    });
    if (times.empty()) fail("place 1 did not answer while it computed");
    print_times(std::move(times));
    return EXIT_SUCCESS;
}

int call() {
    std::vector<double> times;
    for (int k = 0; k < number; ++k) {
        auto const begin = clock_type::now();
        tulle::at(tulle::place(tulle::place_count() - 1), [] {});
        times.push_back(us_since(begin));
    }
    print_times(std::move(times));
    return EXIT_SUCCESS;
}

// Ends while place 1 has been stopped for long, with more messages on their way than there is room
// for. A child lets it go on.
int stop() {
    constexpr int k_messages = 500;
    constexpr std::chrono::milliseconds k_too_long{2500};
    pid_t const other = tulle::at(tulle::place(1), [] { return getpid(); });
    if (fork() == 0) {
        std::this_thread::sleep_for(k_too_long);
        kill(other, SIGCONT);
        _exit(EXIT_SUCCESS);
    }
    kill(other, SIGSTOP);
    for (int k = 0; k < k_messages; ++k)
        tulle_start_at(1, {[](std::uint64_t, std::uint64_t) {}, 0, 0});
    return EXIT_SUCCESS;
}

} // namespace

int main(int argc, char** argv) {
    static std::map<std::string, int (*)()> const s_all{{"exchange", &exchange},
                                                        {"memory", &memory},
                                                        {"compute", &compute},
                                                        {"call", &call},
                                                        {"stop", &stop}};
    if (argc < 2 || s_all.count(argv[1]) == 0) return EXIT_FAILURE;
    number = argc > 2 ? std::atoi(argv[2]) : 0;
    tulle::initialize();
    return s_all.at(argv[1])();
}
