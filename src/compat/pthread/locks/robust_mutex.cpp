// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/locks/robust_mutex.hpp"

#include "base/spin_lock.hpp"
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/kernel_lock.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"

#include <mutex>
#include <new>
#include <optional>

#include <linux/futex.h>
#include <sys/syscall.h>

namespace tulle::posix {

namespace {

// What the C library notes as the owner when the last one has died, and when nobody has made the
// mutex consistent since.
constexpr int k_inconsistent = INT_MAX, k_not_recoverable = INT_MAX - 1;

using node = robust_list; // the link in a mutex, which the kernel follows

node* node_of(pthread_mutex_t* m) noexcept {
    return reinterpret_cast<node*>(&m->__data.__list.__next);
}
pthread_mutex_t* mutex_of(node* n) noexcept {
    return reinterpret_cast<pthread_mutex_t*>(reinterpret_cast<std::byte*>(n) -
                                              offsetof(pthread_mutex_t, __data.__list.__next));
}
futex_word& word_of_mutex(pthread_mutex_t* m) noexcept { return word_of(m->__data.__lock); }
// Robust mutexes do not spin: which thread has it, where others note how long.
// relaxed, all: whoever has it has written it.
std::atomic<int>& holder_of(pthread_mutex_t* m) noexcept {
    return *reinterpret_cast<std::atomic<int>*>(reinterpret_cast<std::byte*>(m) +
                                                offsetof(pthread_mutex_t, __data.__spins));
}

int kind_of(pthread_mutex_t const* m) noexcept { return m->__data.__kind & 3; }
bool is_shared(pthread_mutex_t const* m) noexcept { return (m->__data.__kind & 128) != 0; }

// Guards what follows; held while mutexes enter and leave the list.
base::spin_lock s_lock;
robust_list_head s_list{{&s_list.list},
                        static_cast<long>(offsetof(pthread_mutex_t, __data.__lock)) -
                            static_cast<long>(offsetof(pthread_mutex_t, __data.__list.__next)),
                        nullptr};
std::atomic<int> s_stand_in{0}; // the number of the OS thread; 0: none yet
std::atomic<bool> s_starts{false};

void* stand_in(void*) {
    os::set_name("tulle-robust");
    static std::atomic<std::uint32_t> never{0};
    TULLE_LIBC(syscall)(static_cast<long>(SYS_set_robust_list), &s_list, sizeof s_list);
    s_stand_in.store(os::thread_id(), std::memory_order_release); // pairs with begin
    for (;;) static_cast<void>(os::futex_wait(never, 0));
}

// Whether the stand-in is there.
bool begin() noexcept {
    if (s_stand_in.load(std::memory_order_acquire) != 0) return true; // pairs with stand_in
    if (!s_starts.exchange(true, std::memory_order_acq_rel)) {        // acq_rel: one starts it
        int const error = os::with_signals_blocked([] {
            pthread_t started;
            int const failed = os::start_thread(started, &stand_in, nullptr);
            if (failed == 0) pthread_detach(started);
            return failed;
        });
        if (error != 0) s_starts.store(false, std::memory_order_release);
        if (error != 0) return false;
    }
    while (s_stand_in.load(std::memory_order_acquire) == 0) yield_to_others();
    return true;
}

std::uint32_t own_word() noexcept {
    return static_cast<std::uint32_t>(s_stand_in.load(std::memory_order_relaxed)); // see begin
}

bool is_own(pthread_mutex_t* m, std::uint32_t word) noexcept {
    return word != 0 && (word & FUTEX_TID_MASK) == own_word() &&
           holder_of(m).load(std::memory_order_relaxed) == own_number();
}

// --- the list; with the lock held ----------------------------------------------------------------

void enter(pthread_mutex_t* m) noexcept {
    node* const n = node_of(m);
    n->next = s_list.list.next;
    s_list.list.next = n;
}

void leave(pthread_mutex_t* m) noexcept {
    node* before = &s_list.list;
    while (before->next != node_of(m)) before = before->next;
    before->next = node_of(m)->next;
}

// --- taking it -----------------------------------------------------------------------------------

// The kernel is told of the mutex while it changes hands, as the process may end then.
bool exchange(pthread_mutex_t* m, std::uint32_t& seen, std::uint32_t next) noexcept {
    std::lock_guard const held(s_lock);
    s_list.list_op_pending = node_of(m);
    // acquire pairs with the release of give; relaxed: tried again
    bool const done = word_of_mutex(m).compare_exchange_strong(
        seen, next, std::memory_order_acquire, std::memory_order_relaxed);
    if (done) {
        holder_of(m).store(own_number(), std::memory_order_relaxed);
        enter(m);
    }
    s_list.list_op_pending = nullptr;
    return done;
}

void give(pthread_mutex_t* m, std::uint32_t flags) noexcept {
    bool const shared = is_shared(m);
    std::uint32_t before = 0;
    {
        std::lock_guard const held(s_lock);
        s_list.list_op_pending = node_of(m);
        leave(m);
        holder_of(m).store(0, std::memory_order_relaxed);
        futex_word& word = word_of_mutex(m);
        before = word.load(std::memory_order_relaxed); // relaxed: exchanged below
        // release pairs with the acquire of exchange; relaxed: tried again
        while (!word.compare_exchange_weak(before,
                                           flags != 0 ? flags | (before & FUTEX_WAITERS) : 0,
                                           std::memory_order_release, std::memory_order_relaxed)) {}
        s_list.list_op_pending = nullptr;
    }
    if ((before & FUTEX_WAITERS) == 0) return;
    futex_word& word = word_of_mutex(m); // its address alone: the mutex may be gone
    shared ? os::shared_futex_wake(word, 1) : os::futex_wake(word, 1);
    futex_wake(word, 1);
}

// False: the time is over. Otherwise the word has changed, perhaps.
bool wait_for_change(pthread_mutex_t* m, std::uint32_t seen, kernel_lock_wait& wait) {
    futex_word& word = word_of_mutex(m);
    std::uint32_t const waited = seen | FUTEX_WAITERS;
    // relaxed, both: the kernel compares it again.
    if (seen != waited && !word.compare_exchange_strong(seen, waited, std::memory_order_relaxed,
                                                        std::memory_order_relaxed))
        return true;
    int const how = wait.once(word, waited, [&](std::uint64_t until) {
        auto const end = is_shared(m) ? os::shared_futex_wait(word, waited, until)
                                      : os::futex_wait(word, waited, until);
        return end == os::wait_result::timed_out ? ETIMEDOUT : EBUSY;
    });
    return how != ETIMEDOUT;
}

bool knows_owner(pthread_mutex_t* m) noexcept {
    return kind_of(m) == PTHREAD_MUTEX_RECURSIVE || kind_of(m) == PTHREAD_MUTEX_ERRORCHECK;
}

// What the owner of such a mutex gets that locks it once more.
int lock_again(pthread_mutex_t* m) noexcept {
    if (kind_of(m) == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
    if (m->__data.__count + 1 == 0) return EAGAIN;
    ++m->__data.__count;
    return 0;
}

// It has just been taken from one that has not died.
int begin_to_own(pthread_mutex_t* m) noexcept {
    if (m->__data.__owner == k_not_recoverable) {
        m->__data.__count = 0;
        give(m, 0);
        return ENOTRECOVERABLE;
    }
    m->__data.__count = 1;
    m->__data.__owner = own_number();
    ++m->__data.__nusers;
    return 0;
}

int begin_to_own_of_dead(pthread_mutex_t* m) noexcept {
    m->__data.__count = 1;
    m->__data.__owner = k_inconsistent;
    return EOWNERDEAD;
}

} // namespace

int lock_robust(pthread_mutex_t* m, std::uint64_t deadline) {
    kept_errno const kept;
    if (!begin()) return ENOMEM;
    std::optional<kernel_lock_wait> wait;
    std::uint32_t others_wait = 0; // whoever has waited does not know whether others still do
    std::uint32_t seen = word_of_mutex(m).load(std::memory_order_relaxed); // relaxed: exchanged
    for (;;) {
        if ((seen & FUTEX_OWNER_DIED) != 0) {
            if (exchange(m, seen, own_word() | (seen & FUTEX_WAITERS) | others_wait))
                return begin_to_own_of_dead(m);
            continue;
        }
        if (knows_owner(m) && is_own(m, seen)) return lock_again(m);
        if (seen == 0) {
            if (exchange(m, seen, own_word() | others_wait)) return begin_to_own(m);
            continue;
        }
        if (deadline == 0) return EBUSY;
        if (!wait) wait.emplace(deadline);
        if (!wait_for_change(m, seen, *wait)) return ETIMEDOUT;
        others_wait = FUTEX_WAITERS;
        seen = word_of_mutex(m).load(std::memory_order_relaxed); // relaxed: as above
    }
}

int unlock_robust(pthread_mutex_t* m) noexcept {
    // relaxed: the owner has written it.
    if (!is_own(m, word_of_mutex(m).load(std::memory_order_relaxed))) return EPERM;
    if (kind_of(m) == PTHREAD_MUTEX_RECURSIVE && --m->__data.__count != 0) return 0;
    m->__data.__owner = m->__data.__owner == k_inconsistent ? k_not_recoverable : 0;
    --m->__data.__nusers;
    kept_errno const kept;
    give(m, 0);
    return 0;
}

// relaxed: the owner has written it.
bool holds_robust(pthread_mutex_t* m) noexcept {
    std::uint32_t const word = word_of_mutex(m).load(std::memory_order_relaxed);
    return self() != nullptr ? is_own(m, word)
                             : (word & FUTEX_TID_MASK) == static_cast<std::uint32_t>(own_number());
}

void leave_robust_mutexes() noexcept {
    if (s_stand_in.load(std::memory_order_relaxed) == 0)
        return; // relaxed: the caller has none then
    int const own = own_number();
    for (;;) {
        pthread_mutex_t* left = nullptr;
        {
            std::lock_guard const held(s_lock);
            for (node* n = s_list.list.next; n != &s_list.list && left == nullptr; n = n->next)
                if (holder_of(mutex_of(n)).load(std::memory_order_relaxed) == own)
                    left = mutex_of(n);
        }
        if (left == nullptr) return;
        give(left, FUTEX_OWNER_DIED);
    }
}

void forget_robust_mutexes() noexcept {
    ::new (static_cast<void*>(&s_lock)) base::spin_lock;
    s_list.list.next = &s_list.list;
    s_list.list_op_pending = nullptr;
    // relaxed, both: there is one thread.
    s_stand_in.store(0, std::memory_order_relaxed);
    s_starts.store(false, std::memory_order_relaxed);
}

} // namespace tulle::posix
