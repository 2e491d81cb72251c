// SPDX-License-Identifier: Apache-2.0
// process-lock: processes lock, increment one counter and unlock, n times in all; ns for each, over
// the number of processes. Here: LOCK and UNLOCK of PARMACS, in processes of CREATE each of which
// has a copy of its own of the counter, as if they were on different hosts.
#include "../common/checked_access.hpp"
#include "../common/parmacs.hpp"

#include <cstdlib>

namespace tulle::bench {

namespace {

class counting_with_copies {
public:
    counting_with_copies() : m_count(static_cast<long*>(tulle_parmacs_malloc(sizeof(long)))) {
        tulle_parmacs_lock_init(&m_lock, 1);
    }

    void begin(int processes) {
        m_processes = processes;
        checked_store(m_count, 0L);
    }
    void turn(int) {
        tulle_parmacs_lock(m_lock);
        checked_store(m_count, checked_load(m_count) + 1);
        tulle_parmacs_unlock(m_lock);
    }
    [[nodiscard]] counted finish(long turns) const {
        long const counted_up = turns * m_processes;
        return {0, counted_up, checked_load(m_count) == counted_up};
    }

private:
    tulle_parmacs_lock_t m_lock{};
    int m_processes = 0;
    long* m_count;
};

} // namespace

benchmark const registered("process-lock", "tulle_parmacs_copies", [](int argc, char** argv) {
    setenv("TULLE_COHERENT", "private", 1);
    tulle_coherent_start(TULLE_COHERENT_ABI);
    return parmacs_main<counting_with_copies>(argc, argv, "process-lock", "tulle_parmacs_copies",
                                              {100'000, 10'000, 20});
});

} // namespace tulle::bench
