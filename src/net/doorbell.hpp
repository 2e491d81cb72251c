// SPDX-License-Identifier: Apache-2.0
// How a place that sleeps learns that a message has come. It lies in memory that processes share.
//   sender    D1 publish the message; fence; D2 ring unless somebody watches or it has rung already
//   sleeper   E1 arm; fence; E2 poll; E3 sleep while it has not rung
//   watcher   W1 polls as long as it watches; W2 end the watch; fence; W3 poll once more, or wake
//             the sleeper if another one polls
// Either the sender sees at D2 that the doorbell is armed and that nobody watches, or the sleeper
// (E2) or the last watcher (W3) sees the message.
// E2 must have been a poll: a sleeper that finds another thread polling waits for its turn, since
// that thread may have passed by the message already.
#pragma once

#include <atomic>
#include <cstdint>

namespace tulle::net {

// Machine: futex_wait and futex_wake work between processes.
template <class Machine> class alignas(64) doorbell {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // D2, after the message was published.
    void ring() noexcept {
        Machine::fence_seq_cst();
        // relaxed, both: ordered by the fence.
        if (m_watchers.load(std::memory_order_relaxed) != 0 ||
            m_rung.load(std::memory_order_relaxed) != 0)
            return;
        end_sleep();
    }
    // Ends the sleep of the thread that has armed the doorbell. A thread that arms it later sees
    // what the caller did before.
    void wake() noexcept {
        Machine::fence_seq_cst(); // pairs with arm
        end_sleep();
    }
    // relaxed: a sender that misses it rings in vain
    void begin_watch() noexcept { m_watchers.fetch_add(1, std::memory_order_relaxed); }
    void end_watch() noexcept {
        m_watchers.fetch_sub(1, std::memory_order_relaxed); // relaxed: ordered by the fence
        Machine::fence_seq_cst();
    }
    // E1. One OS thread at a time arms and sleeps.
    void arm() noexcept {
        m_rung.store(0, std::memory_order_relaxed); // relaxed: ordered by the fence
        Machine::fence_seq_cst();
    }
    void sleep(std::uint64_t deadline) noexcept {
        // relaxed: a poll follows, which finds what was published.
        while (m_rung.load(std::memory_order_relaxed) == 0)
            if (!Machine::futex_wait(m_rung, 0, deadline)) return;
    }

    // A sleeper calls these that polls by itself now and then. relaxed, both: what these functions
    // miss ends the sleep a little later.
    [[nodiscard]] bool has_rung() const noexcept {
        return m_rung.load(std::memory_order_relaxed) != 0;
    }
    [[nodiscard]] bool is_watched() const noexcept {
        return m_watchers.load(std::memory_order_relaxed) != 0;
    }

private:
    void end_sleep() noexcept {
        // relaxed: it publishes nothing, and comes after a fence
        m_rung.store(1, std::memory_order_relaxed);
        Machine::futex_wake(m_rung, 1);
    }

    atomic<std::uint32_t> m_rung{1}; // nobody sleeps until the first arm()
    atomic<std::uint32_t> m_watchers{0};
};

// The threads of one process that watch: its doorbell, which all senders read, changes only with
// the first and the last of them.
template <class Machine> class watch_group {
public:
    // True: the caller begins the watch of the doorbell. relaxed: a sender that misses it rings in
    // vain.
    [[nodiscard]] bool enter() noexcept {
        return m_count.fetch_add(1, std::memory_order_relaxed) == 0;
    }
    // True: the caller ends the watch of the doorbell (W2), and polls (W3). acq_rel pairs with
    // itself: the threads that have begun and left raise the count of the doorbell before the last
    // one lowers it. In the other order it would be below zero for a moment, and a sender would
    // take that for a watch.
    [[nodiscard]] bool leave() noexcept {
        return m_count.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

private:
    typename Machine::template atomic<std::uint32_t> m_count{0};
};

} // namespace tulle::net
