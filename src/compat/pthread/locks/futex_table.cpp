// SPDX-License-Identifier: Apache-2.0
#include "compat/pthread/locks/futex_table.hpp"

#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/threads/os_attention.hpp"
#include "compat/pthread/threads/uncancelled.hpp"

#include "os/futex.hpp"
#include "sched/scheduler.hpp"
#include "wait/wait_list.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>

#include <linux/futex.h>
#include <sys/syscall.h>

namespace tulle::posix {

namespace {

struct futex_waiter : wait::waiter<parking> {
    futex_word* word = nullptr;
    std::uint32_t bits = k_any_bits;
    lock_turns* turns = nullptr;
};

struct alignas(64) bucket {
    parking::lock lock;
    std::atomic<std::uint32_t> count{0}; // of waiters; written under the lock
    wait::wait_list<parking> waiters;

    // relaxed, both: the fences of wait and wake order it.
    void enter(futex_waiter& w) noexcept {
        waiters.push_back(w);
        count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void leave(futex_waiter& w) noexcept {
        waiters.unlink(w);
        left();
    }
    void left() noexcept {
        count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
};

constexpr std::size_t k_bucket_bits = 12;
constinit std::array<bucket, std::size_t{1} << k_bucket_bits> s_buckets{};

bucket& bucket_of(futex_word const& word) noexcept {
    auto const address = reinterpret_cast<std::uint64_t>(&word) >> 2U;
    return s_buckets[(address * 0x9E3779B97F4A7C15U) >> (64 - k_bucket_bits)];
}

// With the bucket's lock held, on the context that comes next. False: there is no need to wait.
bool enter_if_equal(bucket& b, futex_waiter& w, std::uint32_t expected) noexcept {
    b.enter(w);
    // F1; either this sees what the waker has written to the word, or the waker, at F2, sees the
    // count.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (w.word->load(std::memory_order_relaxed) == expected) return true; // relaxed: F1
    b.leave(w);
    return false;
}

int wait_without_limit(bucket& b, futex_word& word, std::uint32_t expected, std::uint32_t bits,
                       lock_turns* turns) noexcept {
    futex_waiter w;
    w.word = &word;
    w.bits = bits;
    w.turns = turns;
    bool differs = false;
    wait::park(wait::wait_reason{wait::wait_kind::condition, &word},
               static_cast<wait::waiter<parking>&>(w), b.lock,
               [&] { return !(differs = !enter_if_equal(b, w, expected)); });
    return differs ? EAGAIN : 0;
}

int wait_until(bucket& b, futex_word& word, std::uint32_t expected, limit until, std::uint32_t bits,
               lock_turns* turns) noexcept {
    wait::timed_waiter<parking, futex_waiter> w(until);
    w.word = &word;
    w.bits = bits;
    w.turns = turns;
    bool differs = false;
    bool const woken = wait::park_until(
        wait::wait_reason{wait::wait_kind::condition, &word}, w, b.lock, b.waiters,
        [&] { return !(differs = !enter_if_equal(b, w, expected)); }, [&b] { b.left(); });
    if (woken) return differs ? EAGAIN : 0;
    return w.load_state() == wait::outcome::cancelled ? ECANCELED : ETIMEDOUT;
}

int wait_in_kernel(futex_word& word, std::uint32_t expected, limit until) noexcept {
    os_attention::in_kernel const here(word, until);
    if (here.is_over()) return ECANCELED;
    kernel_waiter const noted;
    os::wait_result const how = os::futex_wait(word, expected, until.deadline);
    if (here.is_over()) return ECANCELED;
    switch (how) {
        case os::wait_result::timed_out: return ETIMEDOUT;
        case os::wait_result::value_changed: return EAGAIN;
        case os::wait_result::interrupted: return EINTR;
        default: return 0;
    }
}

// Whether the caller is an OS thread that is none of a worker, or a worker between two threads. The
// run time takes memory there, and the program's allocator may take locks of ours: a wait as a
// thread would take memory anew in the midst of it, or leave what the worker does half done.
bool has_no_thread() noexcept {
    sched::worker const* const w = sched::this_worker();
    return w == nullptr || (!w->is_guest() && w->current->frame == nullptr);
}

int wake_in_kernel(futex_word& word, int most, std::uint32_t bits) noexcept {
    kept_errno const kept;
    long const woken = TULLE_LIBC(syscall)(static_cast<long>(SYS_futex), &word,
                                           FUTEX_WAKE_BITSET_PRIVATE, most, nullptr, nullptr, bits);
    return static_cast<int>(std::max(woken, 0L)); // there is nobody at a word that is gone
}

void resume(wait::woken_chain<parking>& woken) noexcept {
    kept_errno const kept;
    uncancelled const meanwhile;
    woken.resume_all();
}

constexpr unsigned k_most_lost = 4;

// With the bucket's lock held: takes up to `most` of the waiters whose bits have one in common with
// `bits` out, the first ones first, and passes each to note(waiter).
template <class Note>
void take_waiters(bucket& b, futex_word const& word, int most, std::uint32_t bits, Note note) {
    for (auto* w = b.waiters.first(); w != nullptr && most > 0;) {
        auto* const next = w->next.load();
        auto& of_word = static_cast<futex_waiter&>(*w);
        if (of_word.word == &word && (of_word.bits & bits) != 0) {
            b.leave(of_word);
            if (of_word.try_wake()) {
                note(of_word);
                --most;
            }
        }
        w = next;
    }
}

// Words of which waiters are to be woken by somebody else; their lowest bit: all of them. To wake
// more than is asked for does no harm, nor does a word that is gone; so where only waiters with
// some bits are wanted, which are not noted here, all are woken.
constinit std::array<std::atomic<std::uintptr_t>, 64> s_left{};
constinit std::atomic<bool> s_are_more_left{false};

int leave_wake(futex_word const& word, int most) noexcept {
    std::uintptr_t const wanted = reinterpret_cast<std::uintptr_t>(&word) | (most > 1 ? 1U : 0U);
    // release: pairs with make_up
    auto const is_put = [wanted](std::atomic<std::uintptr_t>& place) {
        std::uintptr_t none = 0;
        return place.compare_exchange_strong(none, wanted, std::memory_order_release,
                                             std::memory_order_relaxed);
    };
    if (std::none_of(s_left.begin(), s_left.end(), is_put))
        s_are_more_left.store(true, std::memory_order_release);
    call_server();
    return 1;
}

void wake_all_of_all_words() noexcept {
    for (bucket& b : s_buckets) {
        wait::woken_chain<parking> woken;
        {
            std::lock_guard const held(b.lock);
            while (auto* const w = static_cast<futex_waiter*>(b.waiters.first())) {
                b.leave(*w);
                if (w->try_wake()) woken.add(*w);
            }
        }
        resume(woken);
    }
}

} // namespace

wakes_left::wakes_left(std::uintptr_t interrupted_at) noexcept
    : m_outer(s_innermost), m_interrupted_at(interrupted_at) {
    s_innermost = this;
}

// A buffer that is filled in another handler than the caller's is none to jump to.
void wakes_left::jump_to(wakes_left const* it) noexcept {
    while (s_innermost != nullptr && s_innermost != it) s_innermost = s_innermost->m_outer;
}

// The frames of a handler lie between its own object and the caller, or what has interrupted it.
void wakes_left::jump_to_frame_of(void const* buffer) noexcept {
    auto const at = reinterpret_cast<std::uintptr_t>(buffer);
    auto lowest = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    while (auto const* const here = s_innermost) {
        if (lowest <= at && at < reinterpret_cast<std::uintptr_t>(here)) return;
        lowest = here->m_interrupted_at;
        s_innermost = here->m_outer;
    }
}

// acquire, both: pairs with leave_wake.
void wakes_left::make_up() noexcept {
    for (auto& place : s_left) {
        std::uintptr_t const wanted = place.exchange(0, std::memory_order_acquire);
        if (wanted == 0) continue;
        auto& word = *reinterpret_cast<futex_word*>(wanted & ~std::uintptr_t{1});
        futex_wake(word, (wanted & 1) != 0 ? INT_MAX : 1);
    }
    if (s_are_more_left.exchange(false, std::memory_order_acquire)) wake_all_of_all_words();
}

int futex_wait(futex_word& word, std::uint32_t expected, limit until, std::uint32_t bits,
               lock_turns* turns) noexcept {
    // relaxed: under the bucket's lock it is read again.
    if (word.load(std::memory_order_relaxed) != expected) return EAGAIN;
    bool const is_of_lock = turns != nullptr;
    if (!is_started() || (is_of_lock && (forking::by_caller() || has_no_thread())))
        return wait_in_kernel(word, expected, until);
    if (!until.is_none() && until.is_over())
        return until.token != nullptr && until.token->is_requested() ? ECANCELED : ETIMEDOUT;
    kept_errno const kept;
    uncancelled const meanwhile;
    bucket& b = bucket_of(word);
    return until.is_none() ? wait_without_limit(b, word, expected, bits, turns)
                           : wait_until(b, word, expected, until, bits, turns);
}

void free_or_hand_on(futex_word& lock, int most) noexcept {
    bucket& b = bucket_of(lock);
    if (TULLE_UNLIKELY(wakes_left::by_caller())) {
        lock.store(0, std::memory_order_release);
        return static_cast<void>(futex_wake(lock, most));
    }
    wait::woken_chain<parking> woken;
    {
        std::lock_guard const held(b.lock); // whoever waits has entered, or sees the word
        std::uint32_t next = 0;
        bool is_first = true;
        take_waiters(b, lock, most, k_any_bits, [&](futex_waiter& w) {
            if (is_first && w.turns != nullptr && w.turns->lost >= k_most_lost) {
                w.turns->is_granted = true; // resume() passes on what the caller did
                next = w.turns->granted;
            }
            is_first = false;
            woken.add(w);
        });
        lock.store(next, std::memory_order_release);
    }
    resume(woken);
    std::atomic_thread_fence(std::memory_order_seq_cst); // F2
    if (kernel_waiter::is_any()) os::futex_wake(lock, most);
}

int futex_wake(futex_word& word, int most, std::uint32_t bits) noexcept {
    bucket& b = bucket_of(word);
    std::atomic_thread_fence(std::memory_order_seq_cst); // F2
    int count = 0;
    if (kernel_waiter::is_any()) count = wake_in_kernel(word, most, bits);
    // relaxed: F2
    if (b.count.load(std::memory_order_relaxed) == 0 || count >= most) return count;
    if (TULLE_UNLIKELY(wakes_left::by_caller()))
        return leave_wake(word, bits == k_any_bits ? most : INT_MAX);
    wait::woken_chain<parking> woken;
    {
        std::lock_guard const held(b.lock);
        take_waiters(b, word, most - count, bits, [&](futex_waiter& w) {
            woken.add(w);
            ++count;
        });
    }
    resume(woken);
    return count;
}

void forget_futex_waiters() noexcept {
    for (auto& place : s_left) place.store(0, std::memory_order_relaxed); // relaxed: as below
    kernel_waiter::forget();
    for (bucket& b : s_buckets) ::new (static_cast<void*>(&b)) bucket;
}

} // namespace tulle::posix
