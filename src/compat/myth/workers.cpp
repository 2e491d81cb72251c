// SPDX-License-Identifier: Apache-2.0
// Who runs the caller, letting others run, and cancellation.
#include "compat/myth/library.hpp"
#include "compat/myth/thread.hpp"

#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>

using namespace tulle::myth;

int myth_get_worker_num(void) {
    static_cast<void>(ensure_started());
    return tulle::this_thread::worker_index();
}
int myth_get_num_workers(void) {
    int workers = 0;
    if (ensure_started() == 0)
        static_cast<void>(guarded([&workers] { workers = tulle::worker_count(); }));
    return workers;
}
int myth_getconcurrency(void) { return myth_get_num_workers(); }

// --- letting others run --------------------------------------------------------------------------

void myth_yield(void) {
    if (ensure_started() == 0) tulle::this_thread::yield();
}
void myth_yield_ex(int /*yield_opt*/) { myth_yield(); }
int myth_sched_yield(void) {
    if (int const error = ensure_started()) return error;
    tulle::this_thread::yield();
    return 0;
}

// --- cancellation --------------------------------------------------------------------------------

int myth_setcancelstate(int state, int* oldstate) {
    if (state != MYTH_CANCEL_ENABLE && state != MYTH_CANCEL_DISABLE) return EINVAL;
    myth_thread_t const self = myth_self();
    if (self == nullptr) return ENOMEM;
    auto& flags = body_of(self).flags;
    // relaxed: read by the caller itself, in myth_testcancel
    std::uint32_t const before =
        state == MYTH_CANCEL_DISABLE
            ? flags.fetch_or(k_cancel_disabled, std::memory_order_relaxed)
            : flags.fetch_and(~k_cancel_disabled, std::memory_order_relaxed);
    if (oldstate != nullptr)
        *oldstate = (before & k_cancel_disabled) != 0 ? MYTH_CANCEL_DISABLE : MYTH_CANCEL_ENABLE;
    return 0;
}

int myth_setcanceltype(int type, int* oldtype) {
    if (type != MYTH_CANCEL_DEFERRED) return EINVAL;
    if (oldtype != nullptr) *oldtype = MYTH_CANCEL_DEFERRED;
    return 0;
}

int myth_cancel(myth_thread_t th) {
    if (!is_made_here(th)) return EINVAL;
    // release pairs with myth_testcancel
    body_of(th).flags.fetch_or(k_cancel_requested, std::memory_order_release);
    return 0;
}

void myth_testcancel(void) {
    myth_thread_t const self = running();
    if (self == nullptr) return;
    std::uint32_t const both = k_cancel_requested | k_cancel_disabled;
    // acquire pairs with myth_cancel
    std::uint32_t const flags = body_of(self).flags.load(std::memory_order_acquire);
    if ((flags & both) == k_cancel_requested) myth_exit(MYTH_CANCELED);
}
