// SPDX-License-Identifier: Apache-2.0
// process-lock: processes of one host lock, increment one counter and unlock, n times in all; ns
// for each, over the number of processes. Here: a plain spin lock, which yields the processor after
// a while, as otherwise those that spin keep it from the holder.
#include "counting.hpp"

namespace tulle::bench {

namespace {

class spin_lock {
public:
    void lock() {
        while (m_held.exchange(1, std::memory_order_acquire) != 0) wait();
    }
    void unlock() { m_held.store(0, std::memory_order_release); }

private:
    void wait() {
        constexpr int patience = 1000;
        for (int k = 0; m_held.load(std::memory_order_relaxed) != 0; ++k)
            if (k >= patience) sched_yield();
    }
    std::atomic<int> m_held{0};
};

} // namespace

benchmark const registered("process-lock", "pthread_spin", [](int argc, char** argv) {
    return forked_lock_main<spin_lock>(argc, argv, "pthread_spin");
});

} // namespace tulle::bench
