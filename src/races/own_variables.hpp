// SPDX-License-Identifier: Apache-2.0
// Variables of the program of which each process has its own, as where CREATE copies them. Who
// loads one that it has not stored itself may expect what another process has stored.
#pragma once

#include "races/shared_notes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tulle::races {

class own_variables {
public:
    own_variables(std::uint64_t low, std::uint64_t bytes) // std::bad_alloc
        : m_low(low), m_is_stored(bytes) {}

    [[nodiscard]] bool contain(std::uint64_t address) const noexcept {
        return address - m_low < m_is_stored.size();
    }
    [[nodiscard]] std::uint64_t end() const noexcept { return m_low + m_is_stored.size(); }
    // This process begins again, with a copy of its creator's.
    void begin() { m_is_stored.assign(m_is_stored.size(), false); }

    // An access to bytes of a word: stores are recorded. Calls conflict(cell) for a store of
    // another process that this one should perhaps have got: one that is later than what was
    // copied. known(process) is the last epoch that was before that.
    template <class Known, class Conflict>
    void look_at(cell own, std::uint64_t word, Known known, Conflict conflict) {
        granule& there = granule_of(word);
        bool is_own = true;
        for (std::uint64_t k = own.first(); k <= own.last(); ++k) {
            auto&& is_stored = m_is_stored[word + k - m_low];
            is_own = is_own && is_stored;
            if (own.stores()) is_stored = true;
        }
        if (own.stores()) return there.record(own, 0, known, [](cell) {});
        if (is_own) return;
        there.each([&](cell other) {
            if (own.conflicts_with(other) && other.when() > known(other.process())) conflict(other);
        });
    }

private:
    std::uint64_t m_low;
    std::vector<bool> m_is_stored; // each byte, by this process
};

} // namespace tulle::races
