// SPDX-License-Identifier: Apache-2.0
// Ticket locks in the program's memory. A qthread that waits lets other qthreads run now and then:
// the holder may be one of them.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/result.hpp"

#include <tulle/detail/cpu_pause.hpp>
#include <tulle/this_thread.hpp>

#include <cstdint>

namespace tulle::compat {

namespace {

constexpr unsigned k_spins_per_yield = 64;

int64_t caller() { return static_cast<int64_t>(this_thread::get_id()); }

// relaxed, as in leave: only the holder writes its own number, and nobody else has it.
bool is_held_by(qthread_spinlock_t const& l, int64_t thread) noexcept {
    return __atomic_load_n(&l.state.s, __ATOMIC_RELAXED) == thread;
}
bool is_recursive(qthread_spinlock_t const& l) noexcept {
    return __atomic_load_n(&l.state.s, __ATOMIC_RELAXED) != QTHREAD_SPINLOCK_IS_NOT_RECURSIVE;
}

// relaxed: see is_held_by.
void enter(qthread_spinlock_t& l, int64_t thread) noexcept {
    __atomic_store_n(&l.state.s, thread, __ATOMIC_RELAXED);
    l.state.count = 1;
}

void take_ticket(qt_spin_trylock_t& l) noexcept {
    // relaxed: the order is that of `ticket`
    haligned_t const mine = __atomic_fetch_add(&l.s.users, 1, __ATOMIC_RELAXED);
    // Pairs with give.
    for (unsigned spins = 1; __atomic_load_n(&l.s.ticket, __ATOMIC_ACQUIRE) != mine; ++spins) {
        if (spins % k_spins_per_yield == 0)
            this_thread::yield();
        else
            tulle::detail::cpu_pause();
    }
}

bool try_ticket(qt_spin_trylock_t& l) noexcept {
    haligned_t turn = __atomic_load_n(&l.s.ticket, __ATOMIC_ACQUIRE); // pairs with give
    haligned_t const next = turn + 1;
    // relaxed: nothing is read then
    return __atomic_compare_exchange_n(&l.s.users, &turn, next, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

void give(qt_spin_trylock_t& l) noexcept {
    haligned_t const next = l.s.ticket + 1;                // only the holder writes it
    __atomic_store_n(&l.s.ticket, next, __ATOMIC_RELEASE); // pairs with take_ticket and try_ticket
}

int initialise(qthread_spinlock_t* l, bool recursive) {
    if (!is_object(l)) return QTHREAD_BADARGS;
    *l = recursive ? qthread_spinlock_t QTHREAD_RECURSIVE_MUTEX_INITIALIZER
                   : qthread_spinlock_t QTHREAD_MUTEX_INITIALIZER;
    return QTHREAD_SUCCESS;
}

} // namespace

} // namespace tulle::compat

using namespace tulle::compat;

int qthread_spinlock_init(qthread_spinlock_t* a, bool const is_recursive) {
    return initialise(a, is_recursive);
}
int qthread_spinlocks_init(qthread_spinlock_t* a, bool const is_recursive) {
    return initialise(a, is_recursive);
}
int qthread_spinlock_destroy(qthread_spinlock_t* a) {
    return is_object(a) ? QTHREAD_SUCCESS : QTHREAD_BADARGS;
}
int qthread_spinlocks_destroy(qthread_spinlock_t* a) { return qthread_spinlock_destroy(a); }

int qthread_spinlock_lock(qthread_spinlock_t* a) {
    if (!is_object(a)) return QTHREAD_BADARGS;
    if (!is_recursive(*a)) {
        take_ticket(a->lock);
        return QTHREAD_SUCCESS;
    }
    int64_t const me = caller();
    if (is_held_by(*a, me)) {
        ++a->state.count;
        return QTHREAD_SUCCESS;
    }
    take_ticket(a->lock);
    enter(*a, me);
    return QTHREAD_SUCCESS;
}

int qthread_spinlock_trylock(qthread_spinlock_t* a) {
    if (!is_object(a)) return QTHREAD_BADARGS;
    if (!is_recursive(*a)) return try_ticket(a->lock) ? QTHREAD_SUCCESS : QTHREAD_OPFAIL;
    int64_t const me = caller();
    if (is_held_by(*a, me)) {
        ++a->state.count;
        return QTHREAD_SUCCESS;
    }
    if (!try_ticket(a->lock)) return QTHREAD_OPFAIL;
    enter(*a, me);
    return QTHREAD_SUCCESS;
}

int qthread_spinlock_unlock(qthread_spinlock_t* a) {
    if (!is_object(a)) return QTHREAD_BADARGS;
    if (is_recursive(*a)) {
        if (!is_held_by(*a, caller())) return QTHREAD_OPFAIL;
        if (--a->state.count != 0) return QTHREAD_SUCCESS;
        // relaxed: as in is_held_by
        __atomic_store_n(&a->state.s, int64_t{QTHREAD_SPINLOCK_IS_RECURSIVE}, __ATOMIC_RELAXED);
    }
    give(a->lock);
    return QTHREAD_SUCCESS;
}
