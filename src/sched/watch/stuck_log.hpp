// SPDX-License-Identifier: Apache-2.0
// How often, and for how long, workers have not come back to the scheduler, by the system call that
// they sat in. The watcher writes it, others may read it at any time.
#pragma once

#include "sched/watch/stuck_judge.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tulle::sched {

struct stuck_times {
    std::uint64_t times = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t longest_ns = 0;

    void add(std::uint64_t ns) noexcept {
        ++times;
        total_ns += ns;
        longest_ns = std::max(longest_ns, ns);
    }
};

class stuck_log {
public:
    static constexpr int k_unknown_call = -1;

    // Called before the watcher runs; throws std::bad_alloc. What was before is forgotten.
    void begin(std::size_t workers) {
        m_current = std::vector<current>(workers);
        if (!std::exchange(m_is_used, false)) return;
        for (record& each : m_by_call) each.clear();
        m_computing.clear();
    }
    // What a round has found of a worker; `since`: when it was seen to come back last, 0: it is
    // idle.
    void note(std::size_t worker, stuck_state state, int call, std::uint64_t since,
              std::uint64_t now) noexcept {
        current& c = m_current[worker];
        // relaxed, all: one writer.
        stuck_state const before = c.state.load(std::memory_order_relaxed);
        if (state == before) {
            if (call != k_unknown_call) c.call.store(call, std::memory_order_relaxed);
            return;
        }
        m_is_used = true;
        bool const came_back = since > c.since.load(std::memory_order_relaxed);
        if (before != stuck_state::free) end(c, came_back ? since : now);
        c.since.store(since, std::memory_order_relaxed);
        c.call.store(call, std::memory_order_relaxed);
        c.state.store(state, std::memory_order_relaxed);
    }

    // Calls f(call, times) for each that there was; those that last yet count until now.
    template <class F> void each_call(std::uint64_t now, F f) const {
        for (int call = k_unknown_call; call + 1 < static_cast<int>(m_by_call.size()); ++call) {
            stuck_times sum = m_by_call[index_of(call)].read();
            add_current(sum, stuck_state::in_kernel, index_of(call), now);
            if (sum.times != 0) f(call, sum);
        }
    }
    [[nodiscard]] stuck_times computing(std::uint64_t now) const noexcept {
        stuck_times sum = m_computing.read();
        add_current(sum, stuck_state::computes, 0, now);
        return sum;
    }

private:
    static constexpr std::size_t k_calls = 1024; // numbers of calls, and the unknown one

    struct record {
        std::atomic<std::uint64_t> times{0}, total_ns{0}, longest_ns{0};

        // relaxed, all: one writer; a reader may see some of the last one.
        void clear() noexcept { write({}); }
        void write(stuck_times const& t) noexcept {
            times.store(t.times, std::memory_order_relaxed);
            total_ns.store(t.total_ns, std::memory_order_relaxed);
            longest_ns.store(t.longest_ns, std::memory_order_relaxed);
        }
        [[nodiscard]] stuck_times read() const noexcept {
            return {times.load(std::memory_order_relaxed), total_ns.load(std::memory_order_relaxed),
                    longest_ns.load(std::memory_order_relaxed)};
        }
    };
    // What a worker is in.
    struct current {
        std::atomic<stuck_state> state{stuck_state::free};
        std::atomic<int> call{k_unknown_call};
        std::atomic<std::uint64_t> since{0};
    };

    [[nodiscard]] static std::size_t index_of(int call) noexcept {
        auto const index = static_cast<std::size_t>(call + 1);
        return index < k_calls ? index : 0;
    }
    // relaxed, all: as above.
    void end(current const& c, std::uint64_t when) noexcept {
        bool const in_kernel = c.state.load(std::memory_order_relaxed) == stuck_state::in_kernel;
        record& r =
            in_kernel ? m_by_call[index_of(c.call.load(std::memory_order_relaxed))] : m_computing;
        stuck_times sum = r.read();
        sum.add(when - c.since.load(std::memory_order_relaxed));
        r.write(sum);
    }
    void add_current(stuck_times& sum, stuck_state state, std::size_t index,
                     std::uint64_t now) const noexcept {
        for (current const& c : m_current) {
            if (c.state.load(std::memory_order_relaxed) != state) continue;
            if (state == stuck_state::in_kernel &&
                index_of(c.call.load(std::memory_order_relaxed)) != index)
                continue;
            sum.add(now - c.since.load(std::memory_order_relaxed));
        }
    }

    bool m_is_used = false; // by the watcher alone
    std::array<record, k_calls> m_by_call;
    record m_computing;
    std::vector<current> m_current; // by the workers' indices
};

} // namespace tulle::sched
