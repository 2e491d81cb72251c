// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/sync.h>: thin calls onto the cores, on storage whose first words are
// the cores' own.
#include "capi/deadline.hpp"
#include "capi/limit.hpp"
#include "sync/barrier_core.hpp"
#include "sync/condition_ops.hpp"
#include "sync/latch_core.hpp"
#include "sync/once_core.hpp"
#include "sync/signal_core.hpp"

#include <tulle/c/sync.h>

#include <cerrno>
#include <cstdint>
#include <limits>

namespace tulle::capi {
namespace {

using namespace sync;

struct c_mutex {
    detail::mutex_front front;
    native_mutex_queue queue;
};
struct c_once {
    std::atomic<std::uint32_t> state;
    once_queue<parking> queue;
};

c_mutex& core(tulle_mutex_t* m) noexcept { return object_in<c_mutex>(m); }
condition_core<parking>& core(tulle_cond_t* c) noexcept {
    return object_in<condition_core<parking>>(c);
}
barrier_core<parking>& core(tulle_barrier_t* b) noexcept {
    return object_in<barrier_core<parking>>(b);
}
latch_core<parking>& core(tulle_latch_t* l) noexcept { return object_in<latch_core<parking>>(l); }
signal_core<parking>& core(tulle_signal_t* s) noexcept {
    return object_in<signal_core<parking>>(s);
}
c_once& core(tulle_once_t* o) noexcept { return object_in<c_once>(o); }

template <class... Pointer> bool any_null(Pointer... p) noexcept { return ((p == nullptr) || ...); }

// relaxed, both: the caller's own store
bool is_held(c_mutex const& m) noexcept {
    return m.front.free.load(std::memory_order_relaxed) == 0 &&
           m.queue.inherited.load(std::memory_order_relaxed);
}
int wait_c(tulle_cond_t* cond, tulle_mutex_t* mutex, detail::limit deadline) noexcept {
    if (any_null(cond, mutex)) return -EINVAL;
    c_mutex& m = core(mutex);
    if (!is_held(m)) return -EPERM;
    return wait_condition(core(cond), m.front, m.queue, deadline) ? 0 : -ETIMEDOUT;
}
bool is_count(std::uint64_t count) noexcept {
    return count <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
}
int as_errno(signal_error e) noexcept {
    switch (e) {
        case signal_error::none: return 0;
        case signal_error::too_many_notifications: return -EPERM;
        case signal_error::second_waiter: return -EBUSY;
        case signal_error::too_many_signalers: return -EINVAL;
    }
    return -EINVAL;
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;

// --- mutex ---------------------------------------------------------------------------------------

int tulle_mutex_init(tulle_mutex_t* mutex) { return clear_object(mutex); }

int tulle_mutex_destroy(tulle_mutex_t* mutex) {
    if (mutex == nullptr) return -EINVAL;
    return is_held(core(mutex)) ? -EBUSY : 0;
}

int tulle_mutex_lock(tulle_mutex_t* mutex) {
    if (mutex == nullptr) return -EINVAL;
    lock(core(mutex).front, core(mutex).queue);
    return 0;
}

int tulle_mutex_trylock(tulle_mutex_t* mutex) {
    if (mutex == nullptr) return -EINVAL;
    return try_lock(core(mutex).front, core(mutex).queue) ? 0 : -EBUSY;
}

int tulle_mutex_timedlock(tulle_mutex_t* mutex, uint64_t timeout_ns) {
    if (mutex == nullptr) return -EINVAL;
    c_mutex& m = core(mutex);
    return try_lock(m.front, m.queue) || lock_contended(m.front, m.queue, deadline_in(timeout_ns))
               ? 0
               : -ETIMEDOUT;
}

int tulle_mutex_lock_within(tulle_mutex_t* mutex, const tulle_limit_t* limit) {
    if (any_null(mutex, limit)) return -EINVAL;
    c_mutex& m = core(mutex);
    return within(*limit, [&m](tulle::detail::limit l) {
        return try_lock(m.front, m.queue) || lock_contended(m.front, m.queue, l);
    });
}

int tulle_mutex_unlock(tulle_mutex_t* mutex) {
    if (mutex == nullptr) return -EINVAL;
    if (!is_held(core(mutex))) return -EPERM;
    unlock(core(mutex).front, core(mutex).queue);
    tulle::schedule_point();
    return 0;
}

// --- condition -----------------------------------------------------------------------------------

int tulle_cond_init(tulle_cond_t* cond) { return clear_object(cond); }

int tulle_cond_destroy(tulle_cond_t* cond) {
    if (cond == nullptr) return -EINVAL;
    return core(cond).has_waiters() ? -EBUSY : 0;
}

int tulle_cond_wait(tulle_cond_t* cond, tulle_mutex_t* mutex) {
    return wait_c(cond, mutex, TULLE_FOREVER);
}

int tulle_cond_timedwait(tulle_cond_t* cond, tulle_mutex_t* mutex, uint64_t timeout_ns) {
    return wait_c(cond, mutex, deadline_in(timeout_ns));
}

int tulle_cond_wait_within(tulle_cond_t* cond, tulle_mutex_t* mutex, const tulle_limit_t* limit) {
    if (limit == nullptr) return -EINVAL;
    int const error = wait_c(cond, mutex, limit_of(*limit));
    return error == -ETIMEDOUT ? reason_of(*limit) : error;
}

int tulle_cond_signal(tulle_cond_t* cond) {
    if (cond == nullptr) return -EINVAL;
    core(cond).notify_one();
    return 0;
}

int tulle_cond_broadcast(tulle_cond_t* cond) {
    if (cond == nullptr) return -EINVAL;
    core(cond).notify_all();
    return 0;
}

// --- barrier -------------------------------------------------------------------------------------

int tulle_barrier_init(tulle_barrier_t* barrier, uint64_t participants) {
    if (participants == 0 || !is_count(participants) || clear_object(barrier) != 0) return -EINVAL;
    core(barrier).open(participants);
    return 0;
}

int tulle_barrier_destroy(tulle_barrier_t* barrier) {
    if (barrier == nullptr) return -EINVAL;
    return core(barrier).has_waiters() ? -EBUSY : 0;
}

int tulle_barrier_wait(tulle_barrier_t* barrier) {
    if (barrier == nullptr || !core(barrier).is_open()) return -EINVAL;
    core(barrier).arrive_and_wait();
    return 0;
}

int tulle_barrier_trywait(tulle_barrier_t* barrier) {
    if (barrier == nullptr || !core(barrier).is_open()) return -EINVAL;
    return core(barrier).try_arrive() ? 0 : -EBUSY;
}

int tulle_barrier_timedwait(tulle_barrier_t* barrier, uint64_t timeout_ns) {
    if (timeout_ns == TULLE_FOREVER) return tulle_barrier_wait(barrier);
    if (barrier == nullptr || !core(barrier).is_open()) return -EINVAL;
    return core(barrier).arrive_and_wait_until(deadline_in(timeout_ns)) ? 0 : -ETIMEDOUT;
}

int tulle_barrier_wait_within(tulle_barrier_t* barrier, const tulle_limit_t* limit) {
    if (any_null(barrier, limit) || !core(barrier).is_open()) return -EINVAL;
    return within(*limit, [barrier](tulle::detail::limit l) {
        return core(barrier).arrive_and_wait_until(l);
    });
}

// --- latch ---------------------------------------------------------------------------------------

int tulle_latch_init(tulle_latch_t* latch, uint64_t count) {
    if (!is_count(count) || clear_object(latch) != 0) return -EINVAL;
    core(latch).open(static_cast<std::int64_t>(count));
    return 0;
}

int tulle_latch_destroy(tulle_latch_t* latch) {
    if (latch == nullptr) return -EINVAL;
    return core(latch).is_open() ? 0 : -EBUSY;
}

int tulle_latch_count_down(tulle_latch_t* latch, uint64_t by) {
    if (latch == nullptr || !is_count(by)) return -EINVAL;
    return core(latch).count_down(static_cast<std::int64_t>(by)) == count_down_result::too_many
               ? -EINVAL
               : 0;
}

int tulle_latch_trywait(tulle_latch_t* latch) {
    if (latch == nullptr) return -EINVAL;
    tulle::schedule_point();
    return core(latch).is_open() ? 0 : -EBUSY;
}

int tulle_latch_wait(tulle_latch_t* latch) {
    if (latch == nullptr) return -EINVAL;
    core(latch).wait();
    return 0;
}

int tulle_latch_timedwait(tulle_latch_t* latch, uint64_t timeout_ns) {
    if (timeout_ns == TULLE_FOREVER) return tulle_latch_wait(latch);
    if (latch == nullptr) return -EINVAL;
    return core(latch).wait_until(deadline_in(timeout_ns)) ? 0 : -ETIMEDOUT;
}

int tulle_latch_wait_within(tulle_latch_t* latch, const tulle_limit_t* limit) {
    if (any_null(latch, limit)) return -EINVAL;
    return within(*limit, [latch](tulle::detail::limit l) { return core(latch).wait_until(l); });
}

int tulle_latch_arrive_and_wait(tulle_latch_t* latch, uint64_t by) {
    int const error = tulle_latch_count_down(latch, by);
    return error != 0 ? error : tulle_latch_wait(latch);
}

// --- signal --------------------------------------------------------------------------------------

int tulle_signal_init(tulle_signal_t* signal, uint32_t count) {
    if (count > signal_core<parking>::k_most || clear_object(signal) != 0) return -EINVAL;
    core(signal).open(count);
    return 0;
}

int tulle_signal_destroy(tulle_signal_t* signal) {
    if (signal == nullptr) return -EINVAL;
    return core(signal).has_waiter() ? -EBUSY : 0;
}

int tulle_signal_notify(tulle_signal_t* signal) {
    return signal == nullptr ? -EINVAL : as_errno(core(signal).notify());
}

int tulle_signal_add_signalers(tulle_signal_t* signal, uint32_t more) {
    return signal == nullptr ? -EINVAL : as_errno(core(signal).add(more));
}

int tulle_signal_trywait(tulle_signal_t* signal) {
    if (signal == nullptr) return -EINVAL;
    tulle::schedule_point();
    return core(signal).is_zero() ? 0 : -EBUSY;
}

int tulle_signal_wait(tulle_signal_t* signal) {
    return signal == nullptr ? -EINVAL : as_errno(core(signal).wait());
}

int tulle_signal_timedwait(tulle_signal_t* signal, uint64_t timeout_ns) {
    if (timeout_ns == TULLE_FOREVER) return tulle_signal_wait(signal);
    if (signal == nullptr) return -EINVAL;
    bool in_time = false;
    int const error = as_errno(core(signal).wait_until(deadline_in(timeout_ns), in_time));
    return error != 0 || in_time ? error : -ETIMEDOUT;
}

int tulle_signal_wait_within(tulle_signal_t* signal, const tulle_limit_t* limit) {
    if (any_null(signal, limit)) return -EINVAL;
    bool in_time = false;
    int const error = as_errno(core(signal).wait_until(limit_of(*limit), in_time));
    return error != 0 || in_time ? error : reason_of(*limit);
}

// --- once ----------------------------------------------------------------------------------------

int tulle_once(tulle_once_t* once, void (*function)(void*), void* argument) {
    if (once == nullptr || function == nullptr) return -EINVAL;
    c_once& o = core(once);
    if (o.state.load(std::memory_order_acquire) == k_done) return 0; // pairs with once_core::finish
    once_core<parking> calling(o.state, o.queue);
    if (!calling.begin()) return 0;
    try {
        function(argument);
    } catch (...) {
        calling.finish(false);
        return -ECANCELED;
    }
    calling.finish(true);
    return 0;
}
