// SPDX-License-Identifier: Apache-2.0
// What the programs of process-barrier share: whether a barrier keeps each process until all have
// come.
#pragma once

#include "../common/processes.hpp"

#include <atomic>

namespace tulle::bench {

// In memory that the processes share. Each looks at the next one only, so that a look costs the
// same for any number of them.
class arrivals {
public:
    void begin(int processes) {
        m_processes = processes;
        m_wrong.store(0);
        for (own& each : m_arrived) each.times.store(0);
    }
    // `wait` takes part in a barrier of all. relaxed: the barrier orders them, or it is wrong.
    template <class Wait> void turn(int number, Wait wait) {
        long const times = times_of(number).load(std::memory_order_relaxed) + 1;
        times_of(number).store(times, std::memory_order_relaxed);
        wait();
        long const next = times_of((number + 1) % m_processes).load(std::memory_order_relaxed);
        if (next != times && next != times + 1) m_wrong.fetch_add(1, std::memory_order_relaxed);
    }
    [[nodiscard]] counted finish(long turns) const {
        return {0, turns, m_wrong.load() == 0 && m_arrived[0].times.load() == turns};
    }

private:
    struct alignas(64) own {
        std::atomic<long> times{0};
    };
    std::atomic<long>& times_of(int number) {
        return m_arrived[static_cast<std::size_t>(number)].times;
    }

    int m_processes = 1;
    std::atomic<long> m_wrong{0};
    std::array<own, k_process_counts.back()> m_arrived{};
};

inline constexpr sizes k_arrivals{20'000, 400, 20};

} // namespace tulle::bench
