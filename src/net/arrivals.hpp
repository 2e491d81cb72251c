// SPDX-License-Identifier: Apache-2.0
// How far a place has come in the barriers of all places, for the places that share memory with it.
// A waiting place reads this, and asks for a message when it stops reading. The words lie in memory
// that processes share. Points are counted upwards; a place may leave out some.
//   place   A1 store the point that it has reached; fence; A2 take the requests of those that wait
//           for this very point, and send each of them a message
//   waiter  B1 check the point; B2 leave a request; fence; B3 check again, and take the request
//           back if the place has arrived by now
// Either the place finds the request at A2, or the waiter sees at B3 that the place has arrived. If
// both happen, the one that takes the request decides whether there will be a message.
// A2 follows each A1, so a request for an earlier point is one that its writer takes back.
#pragma once

#include "base/atomic.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::net {

enum class arrival {
    not_come,
    has_come,
    sends_messages, // to each that waits for this point, without a request
};

template <class Machine> class alignas(64) arrivals {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    static constexpr std::size_t k_waiters = 15;

    // --- by the place itself, one thread at a time -----------------------------------------------
    // A1. release pairs with check.
    void come_to(std::uint64_t point) noexcept {
        m_come.store(point * k_one_point, std::memory_order_release);
    }
    void before_requests() noexcept { Machine::fence_seq_cst(); }
    // A2, after come_to() and before_requests(). True: this waiter is to be sent a message.
    [[nodiscard]] bool take_request(std::size_t waiter, std::uint64_t point) noexcept {
        // relaxed, both: ordered by the fence; what the waiter is to see it learns from the
        // message.
        return m_requests[waiter].load(std::memory_order_relaxed) == point && take(waiter, point);
    }
    // The place stores no further point here, and sends messages instead.
    void send_from_now_on() noexcept {
        // relaxed, both: only the place itself writes the word; the fence after come_to() has
        // published the points that it has reached.
        m_come.store(m_come.load(std::memory_order_relaxed) | k_sends_messages,
                     std::memory_order_relaxed);
    }
    [[nodiscard]] bool sends_messages() const noexcept {
        return (m_come.load(std::memory_order_relaxed) & k_sends_messages) != 0;
    } // relaxed: it is its own

    // --- by another place ------------------------------------------------------------------------
    // B1. Memory ordering: what happens before the place reaches a point happens before this call
    // sees that.
    [[nodiscard]] arrival check(std::uint64_t point) const noexcept {
        std::uint64_t const come = m_come.load(std::memory_order_acquire); // pairs with come_to
        if (come / k_one_point >= point) return arrival::has_come;
        return (come & k_sends_messages) != 0 ? arrival::sends_messages : arrival::not_come;
    }
    // B2 and B3, by one thread at a time for each number of a waiter. True: a message will come.
    // False: the place has arrived.
    [[nodiscard]] bool leave_request(std::size_t waiter, std::uint64_t point) noexcept {
        m_requests[waiter].store(point, std::memory_order_relaxed); // relaxed: ordered by the fence
        Machine::fence_seq_cst();
        return check(point) != arrival::has_come || !take(waiter, point);
    }

private:
    static constexpr std::uint64_t k_sends_messages = 1;
    static constexpr std::uint64_t k_one_point = 2;

    // relaxed: the exchange only decides, and a later request comes after the message about this
    // one.
    [[nodiscard]] bool take(std::size_t waiter, std::uint64_t point) noexcept {
        return m_requests[waiter].compare_exchange_strong(point, 0, std::memory_order_relaxed,
                                                          std::memory_order_relaxed);
    }

    atomic<std::uint64_t> m_come{0};
    atomic<std::uint64_t> m_requests[k_waiters]{}; // the points that others wait for; 0: none
};

using shared_arrivals = arrivals<base::machine>;

} // namespace tulle::net
