// SPDX-License-Identifier: Apache-2.0
// By a barrier of TNT, which a manager at one node serves: each thread asks it, and is answered.
#include "threads.hpp"

#include <tnt.h>

namespace tulle::bench {
namespace {

struct rounds {
    tnt_barrier_t barrier;
    barrier_check check;
    long count;
};

void* take_part(void* shared) {
    rounds all{};
    if (tnt_read(&all, shared, sizeof all) == 0)
        pass_barriers(all.check, all.count, [&all] { tnt_barrier_wait(&all.barrier); });
    return nullptr;
}

double time_barriers(barrier_check const& check, int threads, long n) {
    rounds all{0, check, n};
    tnt_barrier_init(&all.barrier, static_cast<unsigned>(threads));
    void* const shared = tnt_malloc(sizeof all);
    tnt_write(shared, &all, sizeof all);
    std::vector<tnt_t> others(static_cast<std::size_t>(threads - 1));
    for (std::size_t t = 0; t < others.size(); ++t)
        tnt_create_at(&others[t], static_cast<int>(t + 1) % tnt_nodes(), &take_part, shared);
    double const time = time_of_barriers(check, n, [&all] { tnt_barrier_wait(&all.barrier); });
    for (tnt_t const other : others) tnt_join(other, nullptr);
    tnt_barrier_destroy(&all.barrier);
    tnt_free(shared);
    return time;
}

} // namespace

benchmark const registered("barrier", "tulle_tnt", [](int argc, char** argv) {
    return barrier_of_threads_main(argc, argv, "tulle_tnt", &time_barriers);
});

} // namespace tulle::bench
