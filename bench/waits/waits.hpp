// SPDX-License-Identifier: Apache-2.0
// waits: 1000 threads in a ring, of which each waits until the one before it has come by; n waits
// in all. Figure: ns per wait.
// The same with and without reports of deadlocks, which follow every wait: what they cost while
// nothing is wrong.
#pragma once

#include "../common/harness.hpp"
#include "../common/libraries/tulle_blocking.hpp"

#include <cstddef>
#include <vector>

#include <tulle/signal.hpp>

namespace tulle::bench {

class ring {
public:
    explicit ring(std::size_t threads) : m_seats(threads) {}

    // Each thread comes by `rounds` times. Right: in turn.
    [[nodiscard]] double time_of_rounds(long rounds, bool& right) {
        double const elapsed = time_of([&] {
            tulle_blocking_runtime::group threads;
            for (std::size_t i = 0; i < m_seats.size(); ++i)
                threads.spawn([this, i, rounds] { sit(i, rounds); });
            m_seats[0].turn.notify();
            threads.wait();
        });
        right = m_passed == rounds * static_cast<long>(m_seats.size()) && m_in_turn;
        return elapsed;
    }

private:
    struct alignas(64) seat {
        tulle::signal turn{1};
    };

    void sit(std::size_t i, long rounds) {
        for (long r = 0; r < rounds; ++r) {
            m_seats[i].turn.wait();
            m_seats[i].turn.add_signalers(1);
            m_in_turn =
                m_in_turn && m_passed % static_cast<long>(m_seats.size()) == static_cast<long>(i);
            ++m_passed;
            m_seats[(i + 1) % m_seats.size()].turn.notify();
        }
    }

    std::vector<seat> m_seats;
    long m_passed = 0; // both: by the thread whose turn it is
    bool m_in_turn = true;
};

inline int waits_main(int argc, char** argv, char const* name) {
    constexpr std::size_t k_threads = 1000;
    settings const s = parse(argc, argv, {5'000'000, 100'000, k_threads});
    pin_if_single(s);
    tulle_blocking_runtime library(s.workers);
    long const rounds = s.n / static_cast<long>(k_threads);
    figure cost{"ns"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        bool right = false;
        double time = 0;
        library.run([&] { time = ring(k_threads).time_of_rounds(i < 0 ? 1 : rounds, right); });
        if (i >= 0)
            cost.add(1e9 * time / static_cast<double>(rounds * static_cast<long>(k_threads)),
                     right);
    }
    return print_all("waits", name, s, {cost});
}

} // namespace tulle::bench
