// SPDX-License-Identifier: Apache-2.0
// What every benchmark program shares: its options (--workers --places --runs --n --quick), repeated timing, and one JSON line
// per figure on standard output. Header only and free of the library, so that a peer's program links nothing of Tulle.
// Call everything from the program's first thread, before the runtime under test starts.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sched.h>

namespace tulle::bench {

// What `n` is without --n, and the least that it may be.
struct sizes {
    long full;
    long quick;
    long least = 1;
};

struct settings {
    int workers = 1;
    int places = 1;
    int runs = 5;
    long n = 0;
    bool quick = false;
};

// Where a figure lies on a curve: at `at` bytes, threads or what `axis` says. `name` tells the curves of one chart apart; it may be empty.
struct curve_point {
    std::string name;
    std::string axis;
    double at;
};

// One measured quantity: what it is counted in, its value in each run, and whether every run's result was right. The unit says all; its first word
// what the curve, if there is one, is counted in.
struct figure {
    std::string unit;
    std::vector<double> values{};
    bool ok = true;
    curve_point point{};

    void add(double value, bool right) {
        values.push_back(value);
        ok = ok && right;
    }
};

// A figure over the number of threads; `what` is its unit, and what comes before the number.
inline figure figure_of_threads(std::string const& what, long threads, std::string const& curve = "") {
    return {what + std::to_string(threads) + (threads == 1 ? " thread" : " threads") + (curve.empty() ? "" : ", " + curve),
            {},
            true,
            {curve, "threads", static_cast<double>(threads)}};
}

inline double seconds() {
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

// Hides a value from the optimiser, so that work which nothing else reads is still done.
template <class T> inline void keep(T& value) { asm volatile("" : "+m"(value) : : "memory"); }

// Makes the compiler believe that memory is read and written here, so that an empty body stays.
inline void touch() { asm volatile("" : : : "memory"); }

[[noreturn]] inline void usage(char const* program, char const* complaint) {
    std::fprintf(stderr, "%s: %s\nusage: %s [--workers N] [--places P] [--runs K] [--n SIZE] [--quick]\n", program, complaint, program);
    std::exit(2);
}

inline long parse_count(char const* program, char const* text) {
    char* end = nullptr;
    long const value = text != nullptr ? std::strtol(text, &end, 10) : 0;
    if (text == nullptr || *text == '\0' || *end != '\0' || value < 1) usage(program, "an option needs a number of at least 1");
    return value;
}

inline settings parse(int argc, char** argv, sizes size) {
    settings s;
    for (int i = 1; i < argc; ++i) {
        std::string const word = argv[i];
        auto const next = [&] { return parse_count(argv[0], ++i < argc ? argv[i] : nullptr); };
        if (word == "--quick")
            s.quick = true;
        else if (word == "--workers")
            s.workers = static_cast<int>(std::min(next(), 4096L));
        else if (word == "--places")
            s.places = static_cast<int>(std::min(next(), 1024L));
        else if (word == "--runs")
            s.runs = static_cast<int>(std::min(next(), 100000L));
        else if (word == "--n")
            s.n = next();
        else
            usage(argv[0], ("unknown option " + word).c_str());
    }
    if (s.n == 0) s.n = s.quick ? size.quick : size.full;
    if (s.n < size.least) usage(argv[0], ("--n is at least " + std::to_string(size.least)).c_str());
    return s;
}

// Figures for one worker are taken on one CPU, so that no peer gains by a helper thread on another.
inline void pin_if_single(settings const& s) {
    if (s.workers != 1) return;
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::size_t const half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The mean without the lowest and highest twentieth: as steady as a median, and finer than the steps of a coarse counter.
inline double middle_mean(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::size_t const cut = values.size() / 20;
    double sum = 0;
    for (std::size_t i = cut; i < values.size() - cut; ++i) sum += values[i];
    return sum / static_cast<double>(values.size() - 2 * cut);
}

// A number of bytes, as people say it.
inline std::string bytes_text(std::size_t bytes) {
    if (bytes % (1U << 20U) == 0) return std::to_string(bytes >> 20U) + " MiB";
    return bytes % 1024 == 0 ? std::to_string(bytes / 1024) + " KiB" : std::to_string(bytes) + " B";
}

// Prints one figure as `tulle bench` reads it.
inline void print(char const* bench, char const* library, settings const& s, figure const& f) {
    auto const [low, high] = std::minmax_element(f.values.begin(), f.values.end());
    std::printf("{\"bench\": \"%s\", \"library\": \"%s\", \"workers\": %d, \"places\": %d, \"n\": %ld, \"value\": %.6g, "
                "\"min\": %.6g, \"max\": %.6g, \"unit\": \"%s\", \"runs\": %zu, \"ok\": %s",
                bench, library, s.workers, s.places, s.n, median(f.values), *low, *high, f.unit.c_str(), f.values.size(),
                f.ok ? "true" : "false");
    if (!f.point.axis.empty())
        std::printf(", \"curve\": \"%s\", \"axis\": \"%s\", \"at\": %.10g", f.point.name.c_str(), f.point.axis.c_str(), f.point.at);
    std::printf("}\n");
    std::fflush(stdout);
}

// The exit code of a benchmark program: 0 if every result was right.
inline int print_all(char const* bench, char const* library, settings const& s, std::vector<figure> const& figures) {
    bool ok = true;
    for (figure const& f : figures) {
        print(bench, library, s, f);
        ok = ok && f.ok;
    }
    return ok ? 0 : 1;
}

template <class F> double time_of(F&& f) {
    double const start = seconds();
    f();
    return seconds() - start;
}

} // namespace tulle::bench
