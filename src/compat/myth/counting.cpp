// SPDX-License-Identifier: Apache-2.0
// Barriers and join counters.
#include "compat/myth/library.hpp"

#include <tulle/barrier.hpp>

#include <new>

namespace tulle::myth {
namespace {

static_assert(sizeof(barrier) == sizeof(tulle_barrier_t) &&
              alignof(barrier) <= alignof(tulle_barrier_t));

barrier& barrier_in(myth_barrier_t& b) noexcept {
    return *std::launder(reinterpret_cast<barrier*>(&b.barrier));
}

} // namespace
} // namespace tulle::myth

using namespace tulle::myth;

int myth_barrier_init(myth_barrier_t* barrier, const myth_barrierattr_t* attr, unsigned int count) {
    if (barrier == nullptr || count == 0) return EINVAL;
    *barrier = {};
    if (attr != nullptr) barrier->attr = *attr;
    ::new (static_cast<void*>(&barrier->barrier)) tulle::barrier(count);
    barrier->n_threads = count;
    return 0;
}
int myth_barrier_destroy(myth_barrier_t* barrier) {
    if (barrier == nullptr || barrier->n_threads == 0) return EINVAL;
    if (int const error = tulle_barrier_destroy(&barrier->barrier)) return positive(error);
    barrier->n_threads = 0;
    return 0;
}
int myth_barrier_wait(myth_barrier_t* barrier) {
    if (barrier == nullptr || barrier->n_threads == 0) return EINVAL;
    if (int const error = ensure_started()) return error;
    return barrier_in(*barrier).arrive_and_wait() ? MYTH_BARRIER_SERIAL_THREAD : 0;
}
int myth_barrierattr_init(myth_barrierattr_t* attr) {
    if (attr == nullptr) return EINVAL;
    attr->unused = nullptr;
    return 0;
}
int myth_barrierattr_destroy(myth_barrierattr_t* attr) { return attr == nullptr ? EINVAL : 0; }

// --- join counters -------------------------------------------------------------------------------

int myth_join_counter_init(myth_join_counter_t* jc, const myth_join_counterattr_t* attr, int val) {
    if (jc == nullptr || val < 0) return EINVAL;
    if (attr != nullptr)
        jc->attr = *attr;
    else
        jc->attr.unused = nullptr;
    return positive(tulle_latch_init(&jc->latch, static_cast<std::uint64_t>(val)));
}
int myth_join_counter_wait(myth_join_counter_t* jc) {
    if (jc == nullptr) return EINVAL;
    if (int const error = ensure_started()) return error;
    return positive(tulle_latch_wait(&jc->latch));
}
int myth_join_counter_dec(myth_join_counter_t* jc) {
    return jc == nullptr ? EINVAL : positive(tulle_latch_count_down(&jc->latch, 1));
}
int myth_join_counterattr_init(myth_join_counterattr_t* attr) {
    if (attr == nullptr) return EINVAL;
    attr->unused = nullptr;
    return 0;
}
int myth_join_counterattr_destroy(myth_join_counterattr_t* attr) {
    return attr == nullptr ? EINVAL : 0;
}
