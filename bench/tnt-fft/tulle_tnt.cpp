// SPDX-License-Identifier: Apache-2.0
// By TNT threads. Beside pthread.cpp, the prefixes and what starts the library differ
// (tests/compat/tnt/prefixes_test.py).
#include "tnt_fft.hpp"

#include <tnt.h>

namespace tulle::bench {
namespace {

struct shared_work {
    fft_plan& plan;
    tnt_barrier_t phase;
};

struct own_work {
    shared_work* all;
    std::size_t thread;
};

void* work(void* argument) {
    auto const& own = *static_cast<own_work const*>(argument);
    own.all->plan.transform_class(own.thread);
    for (std::size_t level = 0; level < own.all->plan.levels(); ++level) {
        tnt_barrier_wait(&own.all->phase);
        own.all->plan.join(level, own.thread);
    }
    return nullptr;
}

void transform(fft_plan& plan) {
    shared_work all{plan, {}};
    std::vector<own_work> parts;
    std::vector<tnt_t> threads(plan.threads());
    for (std::size_t t = 0; t < threads.size(); ++t) parts.push_back({&all, t});
    tnt_barrier_init(&all.phase, static_cast<unsigned>(threads.size()));
    for (std::size_t t = 0; t < threads.size(); ++t) tnt_create(&threads[t], &work, &parts[t]);
    for (tnt_t const thread : threads) tnt_join(thread, nullptr);
    tnt_barrier_destroy(&all.phase);
}

} // namespace

benchmark const registered("tnt-fft", "tulle_tnt", [](int argc, char** argv) {
    settings const s = parse(argc, argv, k_fft_sizes);
    pin_if_single(s);
    setenv("TULLE_WORKERS", std::to_string(s.workers).c_str(), 1);
    if (tnt_init(0) != 0) return 2;
    return fft_main(s, "tulle_tnt", &transform);
});

} // namespace tulle::bench
