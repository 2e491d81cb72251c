// SPDX-License-Identifier: Apache-2.0
// By i-lets, without captures, results or exceptions: what the calls of the C++ interface are made
// of.
#include "calls_over_places.hpp"

#include <tulle.h>

#include <cstdint>

namespace tulle::bench {
namespace {

void notify_back(std::uint64_t signal, std::uint64_t /*unused*/) {
    serve();
    tulle_signal_notify_at(0, reinterpret_cast<tulle_signal_t*>(
                                  signal)); // NOLINT(performance-no-int-to-ptr): an address there
}

// Starts n there, each of which notifies the signal here.
double time_started(long n, double& starting) {
    tulle_signal_t signal;
    tulle_signal_init(&signal, static_cast<unsigned>(n));
    double const all = time_of([&] {
        starting += time_of([&] {
            for (long k = 0; k < n; ++k)
                tulle_start_at(1, {&notify_back, reinterpret_cast<std::uintptr_t>(&signal), 0});
        });
        tulle_signal_wait(&signal);
    });
    tulle_signal_destroy(&signal);
    return all;
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {50'000, 5'000});
    tulle_places library(s);
    std::vector<figure> figures{{"ns call"}, {"ns activity"}, {"ns continue"}};
    library.run([&] {
        constexpr long k_batch = 100;
        long const batches_of_run = (s.n + k_batch - 1) / k_batch;
        auto const started = static_cast<double>(batches_of_run * k_batch);
        tulle::place const there(1);
        for (int run = 0; run < s.runs; ++run) {
            double calls = 0;
            double batches = 0;
            double starting = 0;
            double ignored = 0;
            long const served = served_at(there);
            for (long k = 0; k < s.n; ++k) calls += time_started(1, ignored);
            long const served_calls = served_at(there);
            for (long k = 0; k < batches_of_run; ++k) batches += time_started(k_batch, starting);
            bool const right = served_at(there) - served_calls == batches_of_run * k_batch;
            figures[0].add(1e9 * calls / static_cast<double>(s.n), served_calls - served == s.n);
            figures[1].add(1e9 * batches / started, right);
            figures[2].add(1e9 * starting / started, right);
        }
    });
    return print_all("at", "tulle_c", s, figures);
}

} // namespace

benchmark const registered("at", "tulle_c", run);

} // namespace tulle::bench
