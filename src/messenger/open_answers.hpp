// SPDX-License-Identifier: Apache-2.0
// How many answers a thread waits for. It may sleep until few enough are to come; whoever brings
// the one that it sleeps for wakes it. This lies in that thread's frame, and may be gone when the
// last answer has been counted: a wake-up then finds nobody, or another sleeper at that address,
// who looks again, as any does.
#pragma once

#include <atomic>
#include <cstdint>

namespace tulle::messenger {

// Machine: as os::machine.
template <class Machine> class basic_open_answers {
public:
    // At a sleep for room it ends when so many are to come.
    explicit basic_open_answers(std::uint32_t few) noexcept : m_few(few) {}

    // By the thread that waits, ahead of each request. relaxed: sending it orders.
    void add() noexcept { m_word.fetch_add(1, std::memory_order_relaxed); }
    // An answer has come: the last access, if no other one is to come. release: pairs with
    // none_is_open.
    void take_one() noexcept {
        std::uint32_t const few = m_few;
        std::uint32_t const before = m_word.fetch_sub(1, std::memory_order_release);
        std::uint32_t const left = (before & k_count) - 1;
        if (((before & k_wants_all) != 0 && left == 0) ||
            ((before & k_wants_room) != 0 && left == few))
            Machine::futex_wake(m_word, 1);
    }
    // What was done for the answers happens before it is true.
    [[nodiscard]] bool none_is_open() const noexcept {
        return (m_word.load(std::memory_order_acquire) & k_count) == 0; // pairs with take_one
    }
    // By the thread that waits; until then (ns, monotonic) at most.
    void sleep_for_all(std::uint64_t deadline) noexcept { sleep(k_wants_all, 0, deadline); }
    void sleep_for_room(std::uint64_t deadline) noexcept { sleep(k_wants_room, m_few, deadline); }

private:
    static constexpr std::uint32_t k_wants_all = 1U << 31;
    static constexpr std::uint32_t k_wants_room = 1U << 30;
    static constexpr std::uint32_t k_count = k_wants_room - 1;

    // relaxed, all: it only sleeps, and looks afterwards.
    void sleep(std::uint32_t wants, std::uint32_t enough, std::uint64_t deadline) noexcept {
        std::uint32_t seen = m_word.fetch_or(wants, std::memory_order_relaxed) | wants;
        while ((seen & k_count) > enough && Machine::futex_wait(m_word, seen, deadline))
            seen = m_word.load(std::memory_order_relaxed);
        m_word.fetch_and(~wants, std::memory_order_relaxed);
    }

    typename Machine::template atomic<std::uint32_t> m_word{0};
    std::uint32_t const m_few;
};

} // namespace tulle::messenger
