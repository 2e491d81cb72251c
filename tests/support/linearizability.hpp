// SPDX-License-Identifier: Apache-2.0
//
// Whether a recorded history of calls could have come from a sequential object: an order of the
// calls that keeps calls apart that did not overlap, and in which each gives the result that it
// gave. After Wing and Gong (1993, doi:10.1006/jpdc.1993.1015), with the states that have been
// tried remembered, as Lowe proposes (2017, doi:10.1002/cpe.3928).
//
// Model: copyable, ordered (<=>); bool apply(Operation const&): false if that operation cannot give
// that result now.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace linearizability {

template <class Operation> struct event {
    Operation what;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

// The part of a history that one thread records.
template <class Operation> class recorder {
public:
    explicit recorder(std::atomic<std::uint64_t>& clock) : m_clock(clock) {}

    // `perform` makes the call and returns the operation with its result.
    template <class F> void record(F perform) {
        std::uint64_t const begin = m_clock.fetch_add(1);
        Operation const what = perform();
        m_events.push_back({what, begin, m_clock.fetch_add(1)});
    }
    [[nodiscard]] std::vector<event<Operation>> const& events() const { return m_events; }

private:
    std::atomic<std::uint64_t>& m_clock;
    std::vector<event<Operation>> m_events;
};

// At most 64 events.
template <class Model, class Operation> class checker {
public:
    explicit checker(std::vector<event<Operation>> history) : m_history(std::move(history)) {}

    [[nodiscard]] bool is_linearizable(Model const& start) {
        m_tried.clear();
        return search(0, start);
    }

private:
    [[nodiscard]] bool search(std::uint64_t done, Model const& state) {
        if (done == all()) return true;
        if (!m_tried.emplace(done, state).second) return false;
        std::uint64_t const first_end = earliest_end(done);
        for (std::size_t k = 0; k < m_history.size(); ++k) {
            if ((done >> k & 1U) != 0 || m_history[k].begin > first_end) continue;
            Model next = state;
            if (next.apply(m_history[k].what) && search(done | std::uint64_t{1} << k, next))
                return true;
        }
        return false;
    }
    [[nodiscard]] std::uint64_t all() const {
        return m_history.size() == 64 ? ~std::uint64_t{0}
                                      : (std::uint64_t{1} << m_history.size()) - 1;
    }
    [[nodiscard]] std::uint64_t earliest_end(std::uint64_t done) const {
        std::uint64_t earliest = ~std::uint64_t{0};
        for (std::size_t k = 0; k < m_history.size(); ++k)
            if ((done >> k & 1U) == 0 && m_history[k].end < earliest) earliest = m_history[k].end;
        return earliest;
    }

    std::vector<event<Operation>> m_history;
    std::set<std::pair<std::uint64_t, Model>> m_tried;
};

} // namespace linearizability
