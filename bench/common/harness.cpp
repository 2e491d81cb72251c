// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <sched.h>
#include <sys/resource.h>

namespace tulle::bench {

namespace {

// Of the list that the constructors of benchmarks make, whichever source file is initialised first.
constinit benchmark const* s_first = nullptr;

long parse_count(char const* program, char const* text) {
    char* end = nullptr;
    long const value = text != nullptr ? std::strtol(text, &end, 10) : 0;
    if (text == nullptr || *text == '\0' || *end != '\0' || value < 1)
        usage(program, "an option needs a number of at least 1");
    return value;
}

void print(char const* bench, char const* library, settings const& s, figure const& f) {
    auto const [low, high] = std::minmax_element(f.values.begin(), f.values.end());
    std::printf("{\"bench\": \"%s\", \"library\": \"%s\", \"workers\": %d, \"places\": %d, \"n\": "
                "%ld, \"value\": %.6g, "
                "\"min\": %.6g, \"max\": %.6g, \"unit\": \"%s\", \"runs\": %zu, \"ok\": %s",
                bench, library, s.workers, s.places, s.n, median(f.values), *low, *high,
                f.unit.c_str(), f.values.size(), f.ok ? "true" : "false");
    if (!f.point.axis.empty())
        std::printf(", \"curve\": \"%s\", \"axis\": \"%s\", \"at\": %.10g", f.point.name.c_str(),
                    f.point.axis.c_str(), f.point.at);
    std::printf("}\n");
    std::fflush(stdout);
}

} // namespace

benchmark::benchmark(char const* of_workload, char const* by_library, function main) noexcept
    : m_workload(of_workload), m_library(by_library), m_run(main), m_next(s_first) {
    s_first = this;
}
benchmark const* benchmark::first() { return s_first; }

figure::figure(char const* counted_in) : unit(counted_in) {}
figure::figure(std::string counted_in, curve_point on_curve)
    : unit(std::move(counted_in)), point(std::move(on_curve)) {}
figure::figure(figure const& other) = default;
figure::figure(figure&& other) noexcept = default;
figure& figure::operator=(figure const& other) = default;
figure& figure::operator=(figure&& other) noexcept = default;
figure::~figure() = default;

void figure::add(double value, bool right) {
    values.push_back(value);
    ok = ok && right;
}

figure figure_of_threads(std::string const& what, long threads, std::string const& curve) {
    return figure(what + std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
                      (curve.empty() ? "" : ", " + curve),
                  {curve, "threads", static_cast<double>(threads)});
}

void usage(char const* program, char const* complaint) {
    std::fprintf(stderr,
                 "%s: %s\nusage: %s --list, or %s WORKLOAD LIBRARY [--workers N] [--places P] "
                 "[--runs K] [--n SIZE] [--quick]\n",
                 program, complaint, program, program);
    std::exit(2);
}

settings parse(int argc, char** argv, sizes size) {
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

void pin_if_single(settings const& s) {
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

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    auto const of = [](timeval const& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::size_t const half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double middle_mean(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::size_t const cut = values.size() / 20;
    double sum = 0;
    for (std::size_t i = cut; i < values.size() - cut; ++i) sum += values[i];
    return sum / static_cast<double>(values.size() - 2 * cut);
}

std::string bytes_text(std::size_t bytes) {
    if (bytes % (1U << 20U) == 0) return std::to_string(bytes >> 20U) + " MiB";
    return bytes % 1024 == 0 ? std::to_string(bytes / 1024) + " KiB" : std::to_string(bytes) + " B";
}

int print_all(char const* bench, char const* library, settings const& s,
              std::vector<figure> const& figures) {
    bool ok = true;
    for (figure const& f : figures) {
        print(bench, library, s, f);
        ok = ok && f.ok;
    }
    return ok ? 0 : 1;
}

} // namespace tulle::bench
