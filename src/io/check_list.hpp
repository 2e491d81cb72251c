// SPDX-License-Identifier: Apache-2.0
// Descriptors at which threads have begun to wait, though the epoll may know another file by their
// numbers. In rounds, a period apart, those are found whose waits have lasted since the last round:
// of the others the epoll has told, or they are found some rounds later. An entry stays while its
// waits begin and end.
#pragma once

#include "io/descriptor.hpp"
#include "os/clock.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace tulle::io {

class check_list {
public:
    explicit check_list(std::uint64_t period_ns) noexcept : m_period_ns(period_ns) {}
    check_list(check_list const&) = delete;
    check_list& operator=(check_list const&) = delete;

    // relaxed: a hint; whoever rests on its strength is told (reactor::enter).
    [[nodiscard]] bool empty() const noexcept {
        return m_first.load(std::memory_order_relaxed) == nullptr;
    }
    // When the next round is due; never, if there is nothing. relaxed: a hint.
    [[nodiscard]] std::uint64_t next_round() const noexcept {
        return empty() ? os::k_no_deadline : m_next_round.load(std::memory_order_relaxed);
    }
    // With the descriptor's lock held. `waits_before`: of its waits, those that are no concern.
    void enter(descriptor& d, std::uint32_t waits_before) noexcept;
    // If one is due. again(d): with the lock held, to enter it again or not. check(d): its waits
    // have lasted.
    template <class Again, class Check>
    void round_if_due(std::uint64_t now, Again again, Check check) noexcept {
        if (now < next_round()) return;
        m_next_round.store(now + m_period_ns, std::memory_order_relaxed); // relaxed: a hint
        // acquire pairs with enter.
        descriptor* d = m_first.exchange(nullptr, std::memory_order_acquire);
        while (d != nullptr) {
            descriptor* const next = d->next_to_check;
            if (have_waits_lasted(*d, again)) check(*d);
            d = next;
        }
    }
    // Nobody uses it.
    void forget() noexcept { m_first.store(nullptr, std::memory_order_relaxed); }

private:
    template <class Again> static bool have_waits_lasted(descriptor& d, Again again) noexcept {
        std::lock_guard const held(d.lock);
        d.is_to_check = false; // from now on it may be listed anew
        bool const is_awaited = d.is_awaited();
        bool const goes_on = is_awaited && d.waits != d.waits_before && ++d.rounds != k_most_rounds;
        if (!goes_on) d.rounds = 0;
        if (goes_on) again(d);
        return is_awaited && !goes_on;
    }

    // A wait may last though others begin and end: by their limits, or for other events.
    static constexpr std::uint8_t k_most_rounds = 3;

    std::uint64_t m_period_ns;
    std::atomic<std::uint64_t> m_next_round{0};
    std::atomic<descriptor*> m_first{nullptr}; // a stack, of which all are taken at once
};

} // namespace tulle::io
