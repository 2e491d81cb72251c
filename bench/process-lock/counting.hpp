// SPDX-License-Identifier: Apache-2.0
// process-lock by processes that fork has made.
#pragma once

#include "../common/forked.hpp"

namespace tulle::bench {

// Lock: lock(), unlock().
template <class Lock> class counting {
public:
    explicit counting(int processes) : m_processes(processes) {}

    void turn(int) {
        m_lock.lock();
        touch();
        ++m_count;
        touch();
        m_lock.unlock();
    }
    [[nodiscard]] counted finish(long turns) const {
        long const counted_up = turns * m_processes;
        return {0, counted_up, m_count == counted_up};
    }

private:
    int m_processes;
    alignas(64) Lock m_lock;
    alignas(64) long m_count = 0;
};

template <class Lock> int forked_lock_main(int argc, char** argv, char const* name) {
    return forked_main<counting<Lock>>(argc, argv, "process-lock", name, {100'000, 10'000, 20});
}

} // namespace tulle::bench
