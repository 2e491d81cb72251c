// SPDX-License-Identifier: Apache-2.0
// Whether a barrier keeps each of its threads until all have come: all of them count themselves at
// one word between two barriers.
#pragma once

#include "../common/places.hpp"

namespace tulle::bench {

class barrier_check {
public:
    // Of so many threads; made and destroyed by one of them.
    [[nodiscard]] static barrier_check make(int threads) {
        barrier_check made;
        made.m_threads = threads;
        made.m_words = tulle::allocate_global_at<long>(tulle::here(), 2);
        arrived(made).store(0);
        wrong(made).store(0);
        return made;
    }
    // Whether nobody has found anything wrong.
    [[nodiscard]] bool destroy() const {
        bool const right = wrong(*this).load() == 0 && arrived(*this).load() != 0;
        tulle::free_global(m_words);
        return right;
    }

    // Each thread calls it with `wait`, which takes part in a barrier of all. Nobody comes out
    // before all have gone in.
    template <class Wait> void take_part(Wait wait) const {
        for (int round = 0; round < k_rounds; ++round) {
            long const before = tulle::fetch_add(arrived(*this), 1L);
            wait();
            long const now = arrived(*this).load();
            if (now != before - before % m_threads + m_threads) tulle::fetch_add(wrong(*this), 1L);
            wait();
        }
    }

private:
    static constexpr int k_rounds = 3;

    static tulle::global_ptr<long> arrived(barrier_check const& c) { return c.m_words; }
    static tulle::global_ptr<long> wrong(barrier_check const& c) { return c.m_words + 1; }

    int m_threads = 0;
    tulle::global_ptr<long> m_words{};
};

} // namespace tulle::bench
