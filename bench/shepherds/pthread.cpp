// SPDX-License-Identifier: Apache-2.0
// As the paper has it: an increment takes a mutex, and a lock of an address is the mutex that
// belongs to it.
#include "../common/libraries/pthread.hpp"
#include "../common/memory.hpp"
#include "shepherds.hpp"

#include <cstdio>

namespace tulle::bench {

class spin_mutex {
public:
    spin_mutex() { pthread_spin_init(&m_lock, PTHREAD_PROCESS_PRIVATE); }
    ~spin_mutex() { pthread_spin_destroy(&m_lock); }
    spin_mutex(spin_mutex const&) = delete;
    spin_mutex& operator=(spin_mutex const&) = delete;

    void lock() { pthread_spin_lock(&m_lock); }
    void unlock() { pthread_spin_unlock(&m_lock); }

private:
    pthread_spinlock_t m_lock{};
};

class locked_counter {
public:
    void increment() {
        std::lock_guard const held(m_mutex);
        keep(++m_value);
    }
    [[nodiscard]] long value() const { return m_value; }

private:
    std::mutex m_mutex;
    long m_value = 0;
};

struct paper_pthreads {
    using group = pthread_runtime::group;
    using mutex = std::mutex;
    using spin_lock = spin_mutex;
    using counter = locked_counter;
    using addresses = std::vector<std::mutex>;
};

// In a process of its own, which ends when the system refuses a thread.
bool can_be_at_once(long n) {
    return in_child([n] {
               return child_result{0, 0, paper_programs<paper_pthreads>(n).at_once()};
           })
        .ok;
}

benchmark const registered("shepherds", "pthread", [](int argc, char** argv) {
    settings const s = shepherds_settings(argc, argv);
    bool const at_once = can_be_at_once(s.n);
    if (!at_once)
        std::fprintf(
            stderr, "bench: this system cannot run %ld pthreads at once: no figure for (f)\n", s.n);
    pthread_runtime library(s.workers);
    return shepherds_main<paper_pthreads>("pthread", s, library, at_once);
});

} // namespace tulle::bench
