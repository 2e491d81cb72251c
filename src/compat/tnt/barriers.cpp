// SPDX-License-Identifier: Apache-2.0
// Barriers: managed_barrier.hpp has what the manager does, node_barrier.hpp what a node does.
#include "compat/tnt/managed_barrier.hpp"
#include "compat/tnt/node_barrier.hpp"

#include <tnt.h>

using namespace tulle::tnt;

int tnt_barrier_init(tnt_barrier_t* barrier, unsigned threads) {
    return threads == 0 ? EINVAL : make<managed_barrier>(barrier, threads);
}
int tnt_barrier_wait(const tnt_barrier_t* barrier) {
    if (barrier == nullptr) return EINVAL;
    return guarded([&] { return pass_barrier(*barrier); });
}
int tnt_barrier_destroy(const tnt_barrier_t* barrier) {
    if (barrier == nullptr) return EINVAL;
    return guarded([&] {
        return manage_number<managed_barrier>(
            *barrier, [](managed_barrier& b, number name) { return b.destroy(name); });
    });
}
