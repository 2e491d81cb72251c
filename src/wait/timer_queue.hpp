// SPDX-License-Identifier: Apache-2.0
// Deadlines of timed waits: timing wheels (timer_wheel.hpp), linked through the frames of the waiters: no wait needs memory. Any thread inserts and
// removes; workers that look for work expire what is due, and the one that sleeps does so until the next deadline.
// The queue is divided into shards with a lock each; who inserts names one, so that workers do not meet. Who expires takes at most k_batch timers
// under a lock into a batch and calls their fire() after it. A batch is of the queue, since who removes looks for its timer there:
//   who expires  B1 firing = t; B2 take t out of its entry; fire; B3 firing = none  |  who removes  R1 take t out of its entry; R2 wait while firing == t
// Either R1 succeeds, and the timer will never fire; or B2 came first, and R2 sees B1 and waits for B3.
// The next deadline of all is one word, m_next. Who has put the first timer of a shard lowers it, and whoever has taken that away raises it:
//   who lowers  L1 next deadline of the shard; fence; L2 load m_next  |  who raises  M1 m_next = k_raising; fence; M2 load the shards'; m_next = the least
// Either L2 sees k_raising and waits for the new one, or M2 sees the deadline of L1. So m_next is never later than a deadline whose insert has
// returned, and a sleeper that has read an earlier one wakes early and reads again.
#pragma once

#include "base/atomic.hpp"
#include "base/spin_lock.hpp"
#include "wait/timer_wheel.hpp"

#include <tulle/detail/machine.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::wait {

struct timer_machine : tulle::detail::native_machine {
    template <class T> using plain = base::plain<T>;
};

struct timer_queue_shape : timer_wheel_shape {
    static constexpr unsigned shards = 16;
    static constexpr unsigned batches = 4; // of each shard: as many may expire it at once
    static constexpr unsigned batch = 16;  // steps under a lock
    static constexpr unsigned rounds = 16; // batches of one shard in one expire()
};

template <class Machine, class Shape = timer_queue_shape> class basic_timer_queue {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    using timer_type = basic_timer<Machine>;
    static constexpr unsigned k_batch = Shape::batch;

    // `from`: a number of the calling OS thread or worker; those of different ones should differ. True: it is the first of all, so that a sleeper
    // must be told of an earlier deadline.
    [[nodiscard]] bool insert(timer_type& t, unsigned from = 0) noexcept;
    // No effect on a timer that has fired. When it returns, fire() is over or will never be called.
    void remove(timer_type& t) noexcept;
    // Fires what is due at `now`, the caller's own shard first; how many. Some may be left: then next_deadline() is not later than `now`. What others
    // fire meanwhile, the caller does not wait for.
    std::size_t expire(std::uint64_t now, unsigned from = 0) noexcept;
    // Never later than the first deadline. Exactly that, unless many timers are close to each other and far away, or somebody changes it. k_never:
    // there is none. relaxed: a hint; a sleeper reads it again after its heavy fence.
    [[nodiscard]] std::uint64_t next_deadline() const noexcept { return m_next.load(std::memory_order_relaxed); }

    // While the process is forked: nothing is being fired then. The child has no waiters, but timers of its own may have been in the queue.
    void lock_for_process_fork() noexcept;
    void unlock_after_process_fork() noexcept;
    void clear() noexcept;

private:
    static constexpr std::uint64_t k_raising = 0;        // of m_next: somebody looks for the least
    static constexpr std::uint64_t k_stale_ns = 1 << 20; // a wheel that is older is brought up to date before it has to be
    static constexpr std::uint16_t k_first_entry = 0x8000;
    static_assert(timer_wheel<timer_type, Shape>::k_places <= k_first_entry);

    // Who uses it has set `taken`; entries are written under the shard's lock and emptied by B2 or R1.
    struct batch {
        atomic<std::uint32_t> taken{0};
        atomic<timer_type*> firing{nullptr};
        std::array<atomic<timer_type*>, Shape::batch> entries{};
    };
    struct alignas(64) shard {
        base::basic_spin_lock<Machine> lock;                        // guards the wheel
        atomic<std::uint64_t> next{k_never};                        // its next deadline, at least 1; written under the lock
        atomic<std::uint64_t> stale_at{k_never};                    // when to bring the wheel up to date; written under the lock
        typename Machine::template plain<std::uint32_t> changes{0}; // of the wheel, under the lock
        std::array<batch, Shape::batches> batches;
        timer_wheel<timer_type, Shape> wheel;
    };

    static void touch(shard& s) noexcept { s.changes.store(s.changes.load() + 1); }
    void use(unsigned index) noexcept;
    [[nodiscard]] bool lower(std::uint64_t deadline) noexcept;
    void raise() noexcept;
    [[nodiscard]] static batch* claim(shard& s) noexcept;
    [[nodiscard]] static unsigned fill(shard& s, batch& b, std::uint64_t now) noexcept;
    [[nodiscard]] static std::size_t fire(batch& b, unsigned count) noexcept;
    [[nodiscard]] static std::size_t expire_shard(shard& s, std::uint64_t now) noexcept;
    static void withdraw(shard& s, std::uint16_t place, timer_type& t) noexcept;

    atomic<std::uint64_t> m_next{k_never};
    atomic<unsigned> m_used{0}; // shards from this one on have never had a timer
    base::basic_spin_lock<Machine> m_raising;
    std::array<shard, Shape::shards> m_shards;
};

using timer = basic_timer<timer_machine>;
using timer_queue = basic_timer_queue<timer_machine>;

template <class Machine, class Shape> bool basic_timer_queue<Machine, Shape>::insert(timer_type& t, unsigned from) noexcept {
    unsigned const index = from % Shape::shards;
    std::uint64_t const deadline = std::max(t.deadline, std::uint64_t{1});
    shard& s = m_shards[index];
    t.shard = static_cast<std::uint8_t>(index);
    s.lock.lock();
    touch(s);
    // relaxed, all: written under the lock; to others they are hints, or a fence follows (L1).
    if (s.wheel.is_empty()) s.stale_at.store(0, std::memory_order_relaxed);
    s.wheel.insert(t);
    bool const is_first = deadline < s.next.load(std::memory_order_relaxed);
    if (is_first) s.next.store(deadline, std::memory_order_relaxed); // L1
    s.lock.unlock();
    if (!is_first) return false;
    use(index);
    Machine::fence_seq_cst();
    return lower(deadline);
}

template <class Machine, class Shape> void basic_timer_queue<Machine, Shape>::use(unsigned index) noexcept {
    // relaxed, both: as L1.
    unsigned used = m_used.load(std::memory_order_relaxed);
    while (used <= index && !m_used.compare_exchange_weak(used, index + 1, std::memory_order_relaxed, std::memory_order_relaxed)) {}
}

// relaxed: L2 is after the fence; m_next orders nothing by itself.
template <class Machine, class Shape> bool basic_timer_queue<Machine, Shape>::lower(std::uint64_t deadline) noexcept {
    std::uint64_t next = m_next.load(std::memory_order_relaxed); // L2
    for (;;) {
        if (next == k_raising) {
            Machine::pause();
            next = m_next.load(std::memory_order_relaxed);
        } else if (deadline >= next) {
            return false;
        } else if (m_next.compare_exchange_weak(next, deadline, std::memory_order_relaxed, std::memory_order_relaxed)) {
            return true;
        }
    }
}

template <class Machine, class Shape> void basic_timer_queue<Machine, Shape>::raise() noexcept {
    m_raising.lock();
    m_next.exchange(k_raising,
                    std::memory_order_relaxed); // M1; relaxed: L1 comes before a fence before what it overwrites, and a fence follows
    Machine::fence_seq_cst();
    std::uint64_t least = k_never;
    // relaxed, all: after the fence (M2).
    for (unsigned k = m_used.load(std::memory_order_relaxed); k-- > 0;)
        least = std::min(least, m_shards[k].next.load(std::memory_order_relaxed));
    m_next.store(least, std::memory_order_relaxed);
    m_raising.unlock();
}

template <class Machine, class Shape> void basic_timer_queue<Machine, Shape>::remove(timer_type& t) noexcept {
    shard& s = m_shards[t.shard];
    s.lock.lock();
    std::uint16_t const place = t.place.load();
    if (place >= k_first_entry) {
        s.lock.unlock();
        if (place != timer_type::k_nowhere) withdraw(s, place, t);
        return;
    }
    touch(s);
    s.wheel.remove(t);
    // relaxed, all: as in insert.
    std::uint64_t const before = s.next.load(std::memory_order_relaxed);
    bool const was_first = t.deadline <= before || s.wheel.is_empty();
    if (was_first) s.next.store(std::max(s.wheel.next(), std::uint64_t{1}), std::memory_order_relaxed);
    s.lock.unlock();
    if (!was_first) return;
    Machine::fence_seq_cst(); // with M1 and M2: who raises m_next now looks at this shard afterwards, or is seen here
    std::uint64_t const next = m_next.load(std::memory_order_relaxed);
    if (next >= before || next == k_raising) raise();
}

// It was in a batch when last seen under the lock.
template <class Machine, class Shape>
void basic_timer_queue<Machine, Shape>::withdraw(shard& s, std::uint16_t place, timer_type& t) noexcept {
    unsigned const number = place - k_first_entry;
    batch& b = s.batches[number / Shape::batch];
    timer_type* expected = &t;
    // R1; acquire pairs with B2.
    if (b.entries[number % Shape::batch].compare_exchange_strong(expected, nullptr, std::memory_order_relaxed, std::memory_order_acquire))
        return;
    while (b.firing.load(std::memory_order_acquire) == &t) Machine::pause(); // R2; pairs with B3
}

// By who has the lock.
template <class Machine, class Shape> auto basic_timer_queue<Machine, Shape>::claim(shard& s) noexcept -> batch* {
    for (batch& b : s.batches) {
        if (b.taken.load(std::memory_order_acquire) != 0) continue; // pairs with expire_shard
        b.taken.store(1, std::memory_order_relaxed);                // relaxed: read under the lock
        return &b;
    }
    return nullptr;
}

// By who has the lock: how many of the batch are due.
template <class Machine, class Shape> unsigned basic_timer_queue<Machine, Shape>::fill(shard& s, batch& b, std::uint64_t now) noexcept {
    auto const first = static_cast<std::uint16_t>(k_first_entry + static_cast<unsigned>(&b - s.batches.data()) * Shape::batch);
    unsigned count = 0;
    s.wheel.advance(now, Shape::batch, [&](timer_type& t) {
        t.place.store(static_cast<std::uint16_t>(first + count));
        b.entries[count++].store(&t, std::memory_order_relaxed); // relaxed: who removes has had the lock since
    });
    // relaxed, both: as in insert.
    s.next.store(std::max(s.wheel.next(), std::uint64_t{1}), std::memory_order_relaxed);
    s.stale_at.store(s.wheel.is_empty() ? k_never : s.wheel.cursor() + k_stale_ns, std::memory_order_relaxed);
    return count;
}

// After B2 the timer stays: its owner waits at R2, or for what fire() does. After fire() it may be gone.
template <class Machine, class Shape> std::size_t basic_timer_queue<Machine, Shape>::fire(batch& b, unsigned count) noexcept {
    std::size_t fired = 0;
    for (unsigned k = 0; k < count; ++k) {
        atomic<timer_type*>& entry = b.entries[k];
        timer_type* const t = entry.load(std::memory_order_relaxed);         // relaxed: a hint for B1
        b.firing.store(t, std::memory_order_relaxed);                        // B1; relaxed: B2 releases it
        if (entry.exchange(nullptr, std::memory_order_release) != nullptr) { // B2; pairs with R1
            t->fire(*t);
            ++fired;
        }
        b.firing.store(nullptr, std::memory_order_release); // B3; pairs with R2
    }
    return fired;
}

template <class Machine, class Shape> std::size_t basic_timer_queue<Machine, Shape>::expire_shard(shard& s, std::uint64_t now) noexcept {
    std::size_t fired = 0;
    for (unsigned round = 0; round < Shape::rounds; ++round) {
        s.lock.lock();
        batch* const b = claim(s);
        if (b != nullptr) touch(s);
        unsigned const count = b != nullptr ? fill(s, *b, now) : 0;
        s.lock.unlock();
        if (b == nullptr) break;
        fired += fire(*b, count);
        b->taken.store(0, std::memory_order_release);            // pairs with claim
        if (now < s.next.load(std::memory_order_relaxed)) break; // relaxed: a hint
    }
    return fired;
}

template <class Machine, class Shape> std::size_t basic_timer_queue<Machine, Shape>::expire(std::uint64_t now, unsigned from) noexcept {
    // relaxed, all: hints; what is missed is seen by the next call.
    shard& own = m_shards[from % Shape::shards];
    bool const is_due = now >= next_deadline();
    if (!is_due) return now < own.stale_at.load(std::memory_order_relaxed) ? 0 : expire_shard(own, now);
    std::size_t fired = 0;
    unsigned const used = m_used.load(std::memory_order_relaxed);
    for (unsigned k = 0; k < used; ++k) {
        shard& s = m_shards[(from + k) % used];
        if (now >= s.next.load(std::memory_order_relaxed)) fired += expire_shard(s, now);
    }
    if (next_deadline() <= now) raise(); // else somebody has done so since
    return fired;
}

template <class Machine, class Shape> void basic_timer_queue<Machine, Shape>::lock_for_process_fork() noexcept {
    for (shard& s : m_shards) {
        s.lock.lock();
        auto const is_taken = [](batch const& b) { return b.taken.load(std::memory_order_acquire) != 0; }; // pairs with expire_shard
        while (std::any_of(s.batches.begin(), s.batches.end(), is_taken)) {
            s.lock.unlock();
            Machine::yield_processor();
            s.lock.lock();
        }
    }
    m_raising.lock();
}

template <class Machine, class Shape> void basic_timer_queue<Machine, Shape>::unlock_after_process_fork() noexcept {
    m_raising.unlock();
    for (shard& s : m_shards) s.lock.unlock();
}

template <class Machine, class Shape> void basic_timer_queue<Machine, Shape>::clear() noexcept {
    for (shard& s : m_shards) {
        s.wheel.clear([](timer_type&) {});
        s.next.store(k_never, std::memory_order_relaxed); // relaxed, here and below: there is one OS thread
        s.stale_at.store(k_never, std::memory_order_relaxed);
    }
    m_used.store(0, std::memory_order_relaxed);
    m_next.store(k_never, std::memory_order_relaxed);
}

extern template class basic_timer_queue<timer_machine>;

} // namespace tulle::wait
