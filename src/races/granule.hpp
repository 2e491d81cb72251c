// SPDX-License-Identifier: Apache-2.0
// The last accesses to eight bytes of memory, in four cells that all processes share without a
// lock. Zero bytes are a valid one, of memory that nobody has used.
//
// Of two accesses that are not ordered at least one finds the other, also when both are recorded at
// once: each first puts its cell there (A1, B1) and then looks at all cells (A2, B2), and exchanges
// have one order. If A1 comes before B1, B2 finds A's cell, or B1 has got it in exchange for its
// own; else A finds B. Only a third access in between may have taken the cell of the first.
//
// A cell is given up without a loss if its access is ordered before the new one, which covers it:
// what will be in conflict with the old access, and is not ordered after it, is in conflict with
// the new one as well. Otherwise, if all are in use, one is lost, and perhaps a race with it.
// Source: FastTrack (Flanagan and Freund, doi:10.1145/1542476.1542490); cells as ThreadSanitizer
// has them (Serebryany and Iskhodzhanov, doi:10.1145/1791194.1791203), which puts its cell last.
#pragma once

#include "races/cell.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace tulle::races {

template <class Machine> class basic_granule {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    static constexpr unsigned k_cells = 4;

    // Records an access. Calls conflict(cell) for each other one that it is in conflict with, and
    // that is not ordered before it: known(process) is the last epoch of that process that is.
    // `chance` chooses which cell is lost.
    template <class Known, class Conflict>
    void record(cell own, unsigned chance, Known known, Conflict conflict) noexcept {
        unsigned at = chance % k_cells;
        if (!choose(own, known, at)) return;
        auto const look = [&](cell other) {
            if (!other.is_empty() && own.conflicts_with(other) &&
                other.when() > known(other.process()))
                conflict(other);
        };
        look(cell(m_cells[at].exchange(own.bits(), std::memory_order_seq_cst))); // A1
        for (unsigned k = 0; k < k_cells; ++k)
            if (k != at) look(cell(m_cells[k].load(std::memory_order_seq_cst))); // A2
    }

    // Only looks. relaxed: cells are all that there is to read.
    template <class Found> void each(Found found) const noexcept {
        for (auto const& each : m_cells)
            if (cell const there(each.load(std::memory_order_relaxed)); !there.is_empty())
                found(there);
    }

private:
    // False: a cell tells all that the new one would. relaxed: only the choice depends on it; what
    // is given up is what the exchange returns, and a cell of the own process is its own store.
    template <class Known> bool choose(cell own, Known known, unsigned& at) noexcept {
        unsigned rank = 0; // of the choice: lost by chance, empty, given up
        for (unsigned k = 0; k < k_cells; ++k) {
            cell const there(m_cells[k].load(std::memory_order_relaxed));
            if (there.is_empty()) {
                if (rank < 1) at = k;
                rank = rank < 1 ? 1 : rank;
                continue;
            }
            bool const is_own = there.process() == own.process();
            if (is_own && there.when() == own.when() && there.covers(own)) return false;
            if (rank < 2 && own.covers(there) && there.when() <= known(there.process())) {
                at = k;
                rank = 2;
            }
        }
        return true;
    }

    std::array<atomic<std::uint64_t>, k_cells> m_cells{};
};

} // namespace tulle::races
