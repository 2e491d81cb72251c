// SPDX-License-Identifier: Apache-2.0
// Locks for readers and writers. pthread_rwlock_init is the C library's, which writes whether
// processes share the lock (__shared) and who goes first (__flags). Readers go before writers that
// wait, as there, unless the kind is PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/locks/kernel_lock.hpp"

namespace {

using namespace tulle::posix;

// The word: who holds the lock, and whether somebody may wait for it, so that who lets go of it
// knows that from the same access: the next holder may do away with the lock at once.
constexpr std::uint32_t k_waited_for = std::uint32_t{1} << 31U;
constexpr std::uint32_t k_written = k_waited_for - 1;
constexpr std::uint32_t k_most_readers = k_written - 1;

std::uint32_t holders_of(std::uint32_t word) noexcept { return word & ~k_waited_for; }

// Our names for words of the C library's layout, which are all 0 in a free lock.
futex_word& word_of_lock(pthread_rwlock_t* l) noexcept { return word_of(l->__data.__readers); }
futex_word& writers_of(pthread_rwlock_t* l) noexcept { return word_of(l->__data.__writers); }

bool is_foreign(pthread_rwlock_t const* l) noexcept { return l->__data.__shared != 0; }
bool prefers_writers(pthread_rwlock_t const* l) noexcept {
    return l->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}
// Only the writer itself can find its own number there.
void note_writer(pthread_rwlock_t* l, int number) noexcept {
    __atomic_store_n(&l->__data.__cur_writer, number, __ATOMIC_RELAXED); // see is_writer
}
bool is_writer(pthread_rwlock_t* l) noexcept {
    // relaxed, both: as said.
    return holders_of(word_of_lock(l).load(std::memory_order_relaxed)) == k_written &&
           __atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED) == own_number();
}

enum class taken { yes, no, too_many };

taken try_to_read(pthread_rwlock_t* l) noexcept {
    futex_word& word = word_of_lock(l);
    std::uint32_t now = word.load(std::memory_order_relaxed); // relaxed: exchanged below
    for (;;) {
        // acquire: waiting_writer
        if (holders_of(now) == k_written ||
            (prefers_writers(l) && writers_of(l).load(std::memory_order_acquire) != 0))
            return taken::no;
        if (holders_of(now) == k_most_readers) return taken::too_many;
        // acquire pairs with the release of unlock; relaxed: tried again
        if (word.compare_exchange_weak(now, now + 1, std::memory_order_acquire,
                                       std::memory_order_relaxed))
            return taken::yes;
    }
}

taken try_to_write(pthread_rwlock_t* l) noexcept {
    futex_word& word = word_of_lock(l);
    std::uint32_t now = word.load(std::memory_order_relaxed); // relaxed: exchanged below
    do {
        if (holders_of(now) != 0) return taken::no;
        // acquire pairs with the release of unlock; relaxed: tried again
    } while (!word.compare_exchange_weak(now, now | k_written, std::memory_order_acquire,
                                         std::memory_order_relaxed));
    note_writer(l, own_number());
    return taken::yes;
}

// Tries until `attempt` does not return taken::no, or it is handed the lock with `holders`.
// ETIMEDOUT: neither.
template <class Attempt>
int wait_for(pthread_rwlock_t* l, std::uint32_t holders, std::uint64_t deadline, Attempt attempt) {
    lock_turns turns{.granted = holders | k_waited_for};
    for (;;) {
        // acq_rel: before the attempt. Whoever changes what it has found clears the bit afterwards.
        std::uint32_t const seen =
            word_of_lock(l).fetch_or(k_waited_for, std::memory_order_acq_rel) | k_waited_for;
        taken const how = attempt(l);
        if (how != taken::no) return how == taken::yes ? 0 : EAGAIN;
        int const end = wait_for_lock(word_of_lock(l), seen, deadline, &turns);
        if (end == ETIMEDOUT) return ETIMEDOUT;
        if (turns.is_granted) return 0;
        if (end == 0) ++turns.lost;
    }
}

int read_until(pthread_rwlock_t* l, std::uint64_t deadline) {
    taken const how = try_to_read(l);
    if (how != taken::no) return how == taken::yes ? 0 : EAGAIN;
    return is_writer(l) ? EDEADLK : wait_for(l, 1, deadline, &try_to_read);
}

// Readers may wait for it where writers are preferred.
class waiting_writer {
public:
    explicit waiting_writer(pthread_rwlock_t* l) noexcept : m_lock(l) {
        writers_of(l).fetch_add(1, std::memory_order_relaxed); // relaxed: a preference
    }
    waiting_writer(waiting_writer const&) = delete;
    waiting_writer& operator=(waiting_writer const&) = delete;
    // release, acq_rel: a reader that sets the bit after this clears it sees that this is gone.
    ~waiting_writer() {
        writers_of(m_lock).fetch_sub(1, std::memory_order_release);
        if (is_writer(m_lock)) return;
        if ((word_of_lock(m_lock).fetch_and(~k_waited_for, std::memory_order_acq_rel) &
             k_waited_for) != 0)
            futex_wake(word_of_lock(m_lock), INT_MAX);
    }

private:
    pthread_rwlock_t* m_lock;
};

int write_until(pthread_rwlock_t* l, std::uint64_t deadline) {
    if (try_to_write(l) == taken::yes) return 0;
    if (is_writer(l)) return EDEADLK;
    waiting_writer const waiting(l);
    int const error = wait_for(l, k_written, deadline, &try_to_write);
    if (error == 0) note_writer(l, own_number()); // it may have been handed over
    return error;
}

int unlock(pthread_rwlock_t* l) noexcept {
    futex_word& word = word_of_lock(l);
    std::uint32_t now = word.load(std::memory_order_relaxed); // relaxed: the caller holds it
    if (holders_of(now) == 0) return EPERM;
    if (holders_of(now) == k_written) note_writer(l, 0);
    for (;;) {
        bool const is_last = holders_of(now) == k_written || holders_of(now) == 1;
        // The last one that holds a lock for which others wait is alone with it for a moment.
        std::uint32_t const next = !is_last                    ? now - 1
                                   : (now & k_waited_for) == 0 ? 0
                                                               : k_written | k_waited_for;
        // release pairs with the acquires of those that come next; acquire: what other readers have
        // released goes with it; relaxed: tried again.
        if (!word.compare_exchange_weak(now, next, std::memory_order_acq_rel,
                                        std::memory_order_relaxed))
            continue;
        if (holders_of(next) == k_written) free_or_hand_on(word, INT_MAX);
        return 0;
    }
}

// As in the C library, a wrong time is refused even if the call would not wait.
int read_by(pthread_rwlock_t* l, clockid_t clock, timespec const* until) {
    if (!is_clock(clock) || !is_time(*until)) return EINVAL;
    return try_to_read(l) == taken::yes ? 0 : read_until(l, deadline_at(clock, *until));
}

int write_by(pthread_rwlock_t* l, clockid_t clock, timespec const* until) {
    if (!is_clock(clock) || !is_time(*until)) return EINVAL;
    return try_to_write(l) == taken::yes ? 0 : write_until(l, deadline_at(clock, *until));
}

// --- those that processes share, which are the C library's ---------------------------------------

// By a thread of ours; `wait(until)` may take its worker. The C library's notes have its number.
template <class Attempt, class Wait>
int lock_shared_until(pthread_rwlock_t* l, std::uint64_t deadline, Attempt attempt, Wait wait) {
    if (int const error = attempt(l); error != EBUSY) return error;
    if (__atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED) == own_number()) return EDEADLK;
    return lock_of_libc(
        word_of_lock(l), deadline, [=] { return attempt(l); },
        [=](timespec const* until) { return wait(l, CLOCK_MONOTONIC, until); });
}

int read_shared_until(pthread_rwlock_t* l, std::uint64_t deadline) {
    return lock_shared_until(l, deadline, TULLE_LIBC(pthread_rwlock_tryrdlock),
                             TULLE_LIBC(pthread_rwlock_clockrdlock));
}
int write_shared_until(pthread_rwlock_t* l, std::uint64_t deadline) {
    return lock_shared_until(l, deadline, TULLE_LIBC(pthread_rwlock_trywrlock),
                             TULLE_LIBC(pthread_rwlock_clockwrlock));
}

int read_shared(pthread_rwlock_t* l) {
    return self() == nullptr ? TULLE_LIBC(pthread_rwlock_rdlock)(l)
                             : read_shared_until(l, tulle::wait::k_never);
}
int write_shared(pthread_rwlock_t* l) {
    return self() == nullptr ? TULLE_LIBC(pthread_rwlock_wrlock)(l)
                             : write_shared_until(l, tulle::wait::k_never);
}
int read_shared_by(pthread_rwlock_t* l, clockid_t clock, timespec const* until) {
    bool const is_for_libc = self() == nullptr || !is_clock(clock) || !is_time(*until);
    return is_for_libc ? TULLE_LIBC(pthread_rwlock_clockrdlock)(l, clock, until)
                       : read_shared_until(l, deadline_at(clock, *until));
}
int write_shared_by(pthread_rwlock_t* l, clockid_t clock, timespec const* until) {
    bool const is_for_libc = self() == nullptr || !is_clock(clock) || !is_time(*until);
    return is_for_libc ? TULLE_LIBC(pthread_rwlock_clockwrlock)(l, clock, until)
                       : write_shared_until(l, deadline_at(clock, *until));
}

int unlock_shared_lock(pthread_rwlock_t* l) noexcept {
    futex_word& word = word_of_lock(l);
    int const error = TULLE_LIBC(pthread_rwlock_unlock)(l);
    if (error == 0) futex_wake(word, INT_MAX); // its address alone: the lock may be gone
    return error;
}

} // namespace

TULLE_INTERPOSE_WAIT(pthread_rwlock_rdlock, (pthread_rwlock_t * l)) {
    return is_foreign(l) ? read_shared(l) : read_until(l, tulle::wait::k_never);
}

TULLE_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) noexcept {
    if (is_foreign(l)) return TULLE_LIBC(pthread_rwlock_tryrdlock)(l);
    taken const how = try_to_read(l);
    return how == taken::yes ? 0 : how == taken::no ? EBUSY : EAGAIN;
}

TULLE_INTERPOSE_WAIT(pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, timespec const* until)) {
    return is_foreign(l) ? read_shared_by(l, CLOCK_REALTIME, until)
                         : read_by(l, CLOCK_REALTIME, until);
}

TULLE_INTERPOSE_WAIT(pthread_rwlock_clockrdlock,
                     (pthread_rwlock_t * l, clockid_t clock, timespec const* until)) {
    return is_foreign(l) ? read_shared_by(l, clock, until) : read_by(l, clock, until);
}

TULLE_INTERPOSE_WAIT(pthread_rwlock_wrlock, (pthread_rwlock_t * l)) {
    return is_foreign(l) ? write_shared(l) : write_until(l, tulle::wait::k_never);
}

TULLE_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* l) noexcept {
    if (is_foreign(l)) return TULLE_LIBC(pthread_rwlock_trywrlock)(l);
    return try_to_write(l) == taken::yes ? 0 : EBUSY;
}

TULLE_INTERPOSE_WAIT(pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, timespec const* until)) {
    return is_foreign(l) ? write_shared_by(l, CLOCK_REALTIME, until)
                         : write_by(l, CLOCK_REALTIME, until);
}

TULLE_INTERPOSE_WAIT(pthread_rwlock_clockwrlock,
                     (pthread_rwlock_t * l, clockid_t clock, timespec const* until)) {
    return is_foreign(l) ? write_shared_by(l, clock, until) : write_by(l, clock, until);
}

TULLE_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* l) noexcept {
    return is_foreign(l) ? unlock_shared_lock(l) : unlock(l);
}
