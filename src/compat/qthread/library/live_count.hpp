// SPDX-License-Identifier: Apache-2.0
// How many qthreads have been forked and have not ended. Each worker counts for itself, in plain
// stores; OS threads that are no workers share the first place.
#pragma once

#include <tulle/this_thread.hpp>

#include <array>
#include <atomic>
#include <cstddef>

namespace tulle::compat {

class live_count {
public:
    constexpr live_count() noexcept = default;
    live_count(live_count const&) = delete;
    live_count& operator=(live_count const&) = delete;

    // relaxed: who wants to know that none is left has forked them, or knows of them otherwise.
    void begin() noexcept { count(&place::begun, std::memory_order_relaxed); }
    // release pairs with now(): what the qthread did.
    void end() noexcept { count(&place::ended, std::memory_order_release); }

    // Zero only if at some moment during the call there were none: all that had ended then are as
    // many as had begun a little later. acquire pairs with end().
    [[nodiscard]] std::size_t now() const noexcept {
        std::size_t const ended = sum(&place::ended);
        return sum(&place::begun) - ended;
    }

    // In a child process, whose only thread calls this. relaxed, both: there is no other.
    void forget() noexcept {
        for (place& p : m_places) {
            p.begun.store(0, std::memory_order_relaxed);
            p.ended.store(0, std::memory_order_relaxed);
        }
    }

    // Changes whenever one ends.
    [[nodiscard]] std::size_t ended_so_far() const noexcept { return sum(&place::ended); }

private:
    struct alignas(64) place {
        std::atomic<std::size_t> begun{0}, ended{0};
    };
    static constexpr std::size_t k_places = 257; // workers of higher numbers count as strangers

    void count(std::atomic<std::size_t> place::*what, std::memory_order order) noexcept {
        auto const worker = static_cast<std::size_t>(this_thread::worker_index() + 1);
        std::atomic<std::size_t>& number = m_places[worker < k_places ? worker : 0].*what;
        if (worker == 0 || worker >= k_places)
            number.fetch_add(1, order);
        else // relaxed: nobody else writes it
            number.store(number.load(std::memory_order_relaxed) + 1, order);
    }
    [[nodiscard]] std::size_t sum(std::atomic<std::size_t> place::*what) const noexcept {
        std::size_t all = 0;
        for (place const& p : m_places) all += (p.*what).load(std::memory_order_acquire);
        return all;
    }

    std::array<place, k_places> m_places{};
};

} // namespace tulle::compat
