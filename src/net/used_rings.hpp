// SPDX-License-Identifier: Apache-2.0
// Which rings of a receiver have ever been written to, so that it polls no others: reading memory
// that nobody has used takes a page of it. It lies in memory that processes share; zeros mean none.
//   sender    U1 enter the ring, once; then publish the message and ring the doorbell (D1, D2 in
//             doorbell.hpp)
//   receiver  U2 read the count at each poll, and if it has changed, search for rings that it does
//             not know
// U1 comes before the fence in D2, and the last poll before a sleep (E2) reads the count after the
// fence in E1. So either that poll knows the ring, or the sender sees that the doorbell is armed.
// Model: tests/model/used_rings_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::net {

// Machine: atomics. Most: rings.
template <class Machine, std::size_t Most> class alignas(64) used_rings {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // U1. By the ring's sender, before its first message.
    void enter(std::size_t ring) noexcept {
        // relaxed: published by the next line
        m_used[ring / 64].fetch_or(std::uint64_t{1} << ring % 64, std::memory_order_relaxed);
        // Pairs with count.
        m_count.fetch_add(1, std::memory_order_release);
    }
    // U2. The number of rings that have been entered. Pairs with enter.
    [[nodiscard]] std::uint32_t count() const noexcept {
        return m_count.load(std::memory_order_acquire);
    }
    // True of all that count() has told of, and perhaps of others. relaxed: ordered by count().
    [[nodiscard]] bool has(std::size_t ring) const noexcept {
        return (m_used[ring / 64].load(std::memory_order_relaxed) >> ring % 64) % 2 != 0;
    }

private:
    atomic<std::uint32_t> m_count{0};
    std::array<atomic<std::uint64_t>, (Most + 63) / 64> m_used{};
};

} // namespace tulle::net
