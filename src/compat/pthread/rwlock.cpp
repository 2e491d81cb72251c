// SPDX-License-Identifier: Apache-2.0
// Locks for readers and writers. pthread_rwlock_init is the C library's, which writes whether
// processes share the lock (__shared) and who goes first (__flags). Readers go before writers that
// wait, as there, unless the kind is PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP.
#include "compat/pthread/futex_table.hpp"
#include "compat/pthread/libc.hpp"
#include "compat/pthread/lock_wait.hpp"

namespace {

using namespace tulle::posix;

constexpr std::uint32_t k_written = ~std::uint32_t{0};
constexpr std::uint32_t k_most_readers = k_written - 1;

// Our names for words of the C library's layout, which are all 0 in a free lock.
futex_word& state_of(pthread_rwlock_t* l) noexcept { return word_of(l->__data.__readers); }
futex_word& sequence_of(pthread_rwlock_t* l) noexcept { return word_of(l->__data.__wrphase_futex); }
futex_word& waiters_of(pthread_rwlock_t* l) noexcept { return word_of(l->__data.__writers_futex); }
futex_word& writers_of(pthread_rwlock_t* l) noexcept { return word_of(l->__data.__writers); }

bool is_foreign(pthread_rwlock_t const* l) noexcept { return l->__data.__shared != 0; }
bool prefers_writers(pthread_rwlock_t const* l) noexcept {
    return l->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}
// Only the writer itself can find its own number there.
bool is_writer(pthread_rwlock_t* l) noexcept {
    // relaxed, both: as said.
    return state_of(l).load(std::memory_order_relaxed) == k_written &&
           __atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED) == own_number();
}

enum class taken { yes, no, too_many };

taken try_to_read(pthread_rwlock_t* l) noexcept {
    futex_word& state = state_of(l);
    std::uint32_t now = state.load(std::memory_order_relaxed); // relaxed: exchanged below
    for (;;) {
        // relaxed: a preference
        if (now == k_written ||
            (prefers_writers(l) && writers_of(l).load(std::memory_order_relaxed) != 0))
            return taken::no;
        if (now == k_most_readers) return taken::too_many;
        // acquire pairs with the release of unlock; relaxed: tried again
        if (state.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                        std::memory_order_relaxed))
            return taken::yes;
    }
}

bool try_to_write(pthread_rwlock_t* l) noexcept {
    std::uint32_t now = 0; // acquire pairs with the release of unlock; relaxed: it is held
    if (!state_of(l).compare_exchange_strong(now, k_written, std::memory_order_acquire,
                                             std::memory_order_relaxed))
        return false;
    __atomic_store_n(&l->__data.__cur_writer, own_number(), __ATOMIC_RELAXED); // see is_writer
    return true;
}

// A count that is one more while a thread waits, however its wait ends.
class counted {
public:
    // seq_cst pairs with the fence of wake
    explicit counted(futex_word& count) noexcept : m_count(count) {
        m_count.fetch_add(1, std::memory_order_seq_cst);
    }
    counted(counted const&) = delete;
    counted& operator=(counted const&) = delete;
    // relaxed: one wake more does no harm
    ~counted() { m_count.fetch_sub(1, std::memory_order_relaxed); }

private:
    futex_word& m_count;
};

void wake(pthread_rwlock_t* l) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);            // pairs with wait_until
    if (waiters_of(l).load(std::memory_order_relaxed) == 0) return; // relaxed: the fence
    sequence_of(l).fetch_add(1, std::memory_order_release);         // pairs with wait_until
    futex_wake(sequence_of(l), INT_MAX);
}

// Tries until it succeeds: `attempt` returns true when there is nothing more to be done.
template <class Attempt>
int wait_until(pthread_rwlock_t* l, std::uint64_t deadline, Attempt attempt) {
    counted const waiting(waiters_of(l));
    for (;;) {
        // acquire: read before the attempt
        std::uint32_t const seen = sequence_of(l).load(std::memory_order_acquire);
        std::atomic_thread_fence(std::memory_order_seq_cst); // pairs with the fence of wake
        if (attempt()) return 0;
        if (wait_for_lock(sequence_of(l), seen, deadline) == ETIMEDOUT) return ETIMEDOUT;
    }
}

int read_until(pthread_rwlock_t* l, std::uint64_t deadline) {
    taken how = try_to_read(l);
    if (how == taken::no && is_writer(l)) return EDEADLK;
    int error = 0;
    if (how == taken::no)
        error = wait_until(l, deadline, [&] { return (how = try_to_read(l)) != taken::no; });
    return how == taken::too_many ? EAGAIN : error;
}

// If it does not get the lock, readers may have waited for it.
class waiting_writer {
public:
    explicit waiting_writer(pthread_rwlock_t* l) noexcept : m_lock(l) {
        writers_of(l).fetch_add(1, std::memory_order_relaxed); // relaxed: a preference
    }
    waiting_writer(waiting_writer const&) = delete;
    waiting_writer& operator=(waiting_writer const&) = delete;
    ~waiting_writer() {
        writers_of(m_lock).fetch_sub(1, std::memory_order_relaxed); // relaxed: likewise
        if (!is_writer(m_lock)) wake(m_lock);
    }

private:
    pthread_rwlock_t* m_lock;
};

int write_until(pthread_rwlock_t* l, std::uint64_t deadline) {
    if (try_to_write(l)) return 0;
    if (is_writer(l)) return EDEADLK;
    waiting_writer const waiting(l);
    return wait_until(l, deadline, [l] { return try_to_write(l); });
}

int unlock(pthread_rwlock_t* l) noexcept {
    futex_word& state = state_of(l);
    bool is_free = true;
    // relaxed: the caller holds it
    if (state.load(std::memory_order_relaxed) == k_written) {
        __atomic_store_n(&l->__data.__cur_writer, 0, __ATOMIC_RELAXED); // see is_writer
        state.store(0, std::memory_order_release); // pairs with the acquires of the next ones
    } else {
        is_free = state.fetch_sub(1, std::memory_order_release) == 1; // likewise
    }
    if (is_free) wake(l);
    return 0;
}

// As in the C library, a wrong time is refused even if the call would not wait.
int read_by(pthread_rwlock_t* l, clockid_t clock, timespec const* until) {
    if (!is_clock(clock) || !is_time(*until)) return EINVAL;
    return try_to_read(l) == taken::yes ? 0 : read_until(l, deadline_at(clock, *until));
}

int write_by(pthread_rwlock_t* l, clockid_t clock, timespec const* until) {
    if (!is_clock(clock) || !is_time(*until)) return EINVAL;
    return try_to_write(l) ? 0 : write_until(l, deadline_at(clock, *until));
}

} // namespace

TULLE_INTERPOSE_WAIT(pthread_rwlock_rdlock, (pthread_rwlock_t * l)) {
    return is_foreign(l) ? TULLE_LIBC(pthread_rwlock_rdlock)(l)
                         : read_until(l, tulle::wait::k_never);
}

TULLE_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) noexcept {
    if (is_foreign(l)) return TULLE_LIBC(pthread_rwlock_tryrdlock)(l);
    taken const how = try_to_read(l);
    return how == taken::yes ? 0 : how == taken::no ? EBUSY : EAGAIN;
}

TULLE_INTERPOSE_WAIT(pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, timespec const* until)) {
    return is_foreign(l) ? TULLE_LIBC(pthread_rwlock_timedrdlock)(l, until)
                         : read_by(l, CLOCK_REALTIME, until);
}

TULLE_INTERPOSE_WAIT(pthread_rwlock_clockrdlock,
                     (pthread_rwlock_t * l, clockid_t clock, timespec const* until)) {
    return is_foreign(l) ? TULLE_LIBC(pthread_rwlock_clockrdlock)(l, clock, until)
                         : read_by(l, clock, until);
}

TULLE_INTERPOSE_WAIT(pthread_rwlock_wrlock, (pthread_rwlock_t * l)) {
    return is_foreign(l) ? TULLE_LIBC(pthread_rwlock_wrlock)(l)
                         : write_until(l, tulle::wait::k_never);
}

TULLE_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* l) noexcept {
    if (is_foreign(l)) return TULLE_LIBC(pthread_rwlock_trywrlock)(l);
    return try_to_write(l) ? 0 : EBUSY;
}

TULLE_INTERPOSE_WAIT(pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, timespec const* until)) {
    return is_foreign(l) ? TULLE_LIBC(pthread_rwlock_timedwrlock)(l, until)
                         : write_by(l, CLOCK_REALTIME, until);
}

TULLE_INTERPOSE_WAIT(pthread_rwlock_clockwrlock,
                     (pthread_rwlock_t * l, clockid_t clock, timespec const* until)) {
    return is_foreign(l) ? TULLE_LIBC(pthread_rwlock_clockwrlock)(l, clock, until)
                         : write_by(l, clock, until);
}

TULLE_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* l) noexcept {
    return is_foreign(l) ? TULLE_LIBC(pthread_rwlock_unlock)(l) : unlock(l);
}
