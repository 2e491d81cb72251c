// SPDX-License-Identifier: Apache-2.0
// Decides which workers are stuck: in the kernel for a millisecond, or computing for ten without a
// decision of the scheduler. One that has hardly had a processor meanwhile, as others have it, is
// not stuck: one more worker would only take from it. The judge is told in each round what the
// workers do, and keeps since when each has not come back. It knows neither a clock nor workers, so
// that tests bring their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tulle::sched {

// What a round has found of one worker. `decisions` changes whenever the worker comes back to the
// scheduler.
struct worker_sample {
    bool is_idle = true; // it searches, sleeps, or stands by
    std::uint32_t decisions = 0;
};

enum class stuck_state : std::uint8_t { free, in_kernel, computes };

class stuck_judge {
public:
    static constexpr std::uint64_t k_in_kernel_ns = 1'000'000;
    static constexpr std::uint64_t k_computes_ns = 10'000'000;
    static constexpr std::uint64_t k_computed_ns = 4'000'000; // of these at least

    // Called before the first round; throws std::bad_alloc.
    void reserve(std::size_t workers) { m_notes.resize(workers); }

    // `of.in_kernel()` and `of.computed_ns()`, its processor time so far or 0 if that is not known,
    // ask the system, which costs up to microseconds: not of an idle worker.
    template <class Worker>
    stuck_state judge(std::size_t index, worker_sample seen, std::uint64_t now,
                      Worker&& of) noexcept {
        note& n = m_notes[index];
        if (seen.is_idle || seen.decisions != n.decisions || n.since == 0) {
            n = {seen.decisions, seen.is_idle ? 0 : now, seen.is_idle ? 0 : of.computed_ns(),
                 stuck_state::free};
            return stuck_state::free;
        }
        std::uint64_t const age = now - n.since;
        if (age < k_in_kernel_ns) return n.state = stuck_state::free;
        if (of.in_kernel()) return n.state = stuck_state::in_kernel;
        if (age < k_computes_ns) return n.state = stuck_state::free;
        std::uint64_t const computed = of.computed_ns();
        bool const has_computed = computed == 0 || computed - n.computed >= k_computed_ns;
        return n.state = has_computed ? stuck_state::computes : stuck_state::free;
    }
    // What a round has found does not count: here is what was found before.
    stuck_state keep(std::size_t index, stuck_state before) noexcept {
        return m_notes[index].state = before;
    }
    // When a worker that is not stuck may turn out to be; k_never-like if it is idle or has been
    // found stuck.
    [[nodiscard]] std::uint64_t next_change(std::size_t index) const noexcept {
        note const& n = m_notes[index];
        if (n.since == 0 || n.state != stuck_state::free) return ~std::uint64_t{0};
        return n.since + k_in_kernel_ns;
    }
    // ns: when it was seen to come back to the scheduler last; 0: it is idle.
    [[nodiscard]] std::uint64_t since(std::size_t index) const noexcept {
        return m_notes[index].since;
    }
    [[nodiscard]] stuck_state state_of(std::size_t index) const noexcept {
        return m_notes[index].state;
    }

private:
    struct note {
        std::uint32_t decisions = 0;
        std::uint64_t since = 0;    // ns; 0: idle
        std::uint64_t computed = 0; // ns of processor time until then
        stuck_state state = stuck_state::free;
    };

    std::vector<note> m_notes;
};

} // namespace tulle::sched
