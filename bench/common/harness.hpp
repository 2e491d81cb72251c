// SPDX-License-Identifier: Apache-2.0
// What all benchmarks share: how a source file adds one to the program of its library, the options
// (--workers --places --runs --n --quick), repeated timing, and one JSON line per figure on
// standard output. Free of the library, so that a peer's program links nothing of Tulle.
// Call everything from the program's first thread, before the runtime under test starts.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tulle::bench {

// One workload by one library, or by a variant of it. A source file has one such object, with
// static storage; main.cpp finds it there by its names.
class benchmark {
public:
    using function = int (*)(int argc, char** argv); // as main; its options begin at argv[1]

    // The names outlive the object.
    benchmark(char const* of_workload, char const* by_library, function main) noexcept;
    benchmark(benchmark const&) = delete;
    benchmark& operator=(benchmark const&) = delete;

    [[nodiscard]] char const* workload() const { return m_workload; }
    [[nodiscard]] char const* library() const { return m_library; }
    [[nodiscard]] int run(int argc, char** argv) const { return m_run(argc, argv); }

    // All of this program, in no order: the first, and what follows each; null after the last.
    [[nodiscard]] static benchmark const* first();
    [[nodiscard]] benchmark const* next() const { return m_next; }

private:
    char const* m_workload;
    char const* m_library;
    function m_run;
    benchmark const* m_next;
};

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

// Where a figure lies on a curve: at `at` bytes, threads or what `axis` says. `name` tells the
// curves of one chart apart; it may be empty.
struct curve_point {
    std::string name{};
    std::string axis{};
    double at = 0;
};

// One measured quantity: what it is counted in, its value in each run, and whether every run's
// result was right. The unit says all; its first word what the curve, if there is one, is counted
// in. Its functions are not inline because none of them is timed.
struct figure {
    figure(char const* counted_in); // NOLINT(google-explicit-constructor): a list of units
    explicit figure(std::string counted_in, curve_point on_curve = {});
    figure(figure const& other);
    figure(figure&& other) noexcept;
    figure& operator=(figure const& other);
    figure& operator=(figure&& other) noexcept;
    ~figure();

    void add(double value, bool right);

    std::string unit;
    std::vector<double> values{};
    bool ok = true;
    curve_point point{};
};

// A figure over the number of threads; `what` is its unit, and what comes before the number.
figure figure_of_threads(std::string const& what, long threads, std::string const& curve = "");

inline double seconds() {
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

template <class F> double time_of(F&& f) {
    double const start = seconds();
    f();
    return seconds() - start;
}

// Hides a value from the optimiser, so that work which nothing else reads is still done.
template <class T> inline void keep(T& value) { asm volatile("" : "+m"(value) : : "memory"); }

// Makes the compiler believe that memory is read and written here, so that an empty body stays.
inline void touch() { asm volatile("" : : : "memory"); }

// Ends the program: what is wrong, and how it is called.
[[noreturn]] void usage(char const* program, char const* complaint);

settings parse(int argc, char** argv, sizes size);

// Figures for one worker are taken on one CPU, so that no peer gains by a helper thread on another.
void pin_if_single(settings const& s);

// Processor time that this process has used so far, in all its threads.
double processor_seconds();

double median(std::vector<double> values);

// The mean without the lowest and highest twentieth: as steady as a median, and finer than the
// steps of a coarse counter.
double middle_mean(std::vector<double> values);

// A number of bytes, as people say it.
std::string bytes_text(std::size_t bytes);

// Prints each figure as `tulle bench` reads it. The exit code of a benchmark: 0 if every result was
// right.
int print_all(char const* bench, char const* library, settings const& s,
              std::vector<figure> const& figures);

} // namespace tulle::bench
