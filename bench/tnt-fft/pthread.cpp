// SPDX-License-Identifier: Apache-2.0
// By POSIX threads. Beside this, the prefixes and what starts the library differ
// (tests/compat/tnt/prefixes_test.py).
#include "tnt_fft.hpp"

#include <pthread.h>

namespace tulle::bench {
namespace {

struct shared_work {
    fft_plan& plan;
    pthread_barrier_t phase;
};

struct own_work {
    shared_work* all;
    std::size_t thread;
};

void* work(void* argument) {
    auto const& own = *static_cast<own_work const*>(argument);
    own.all->plan.transform_class(own.thread);
    for (std::size_t level = 0; level < own.all->plan.levels(); ++level) {
        pthread_barrier_wait(&own.all->phase);
        own.all->plan.join(level, own.thread);
    }
    return nullptr;
}

void transform(fft_plan& plan) {
    shared_work all{plan, {}};
    std::vector<own_work> parts;
    std::vector<pthread_t> threads(plan.threads());
    for (std::size_t t = 0; t < threads.size(); ++t) parts.push_back({&all, t});
    pthread_barrier_init(&all.phase, nullptr, static_cast<unsigned>(threads.size()));
    for (std::size_t t = 0; t < threads.size(); ++t)
        pthread_create(&threads[t], nullptr, &work, &parts[t]);
    for (pthread_t const thread : threads) pthread_join(thread, nullptr);
    pthread_barrier_destroy(&all.phase);
}

} // namespace

benchmark const registered("tnt-fft", "pthread", [](int argc, char** argv) {
    settings const s = parse(argc, argv, k_fft_sizes);
    pin_if_single(s);
    return fft_main(s, "pthread", &transform);
});

} // namespace tulle::bench
