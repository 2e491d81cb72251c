// SPDX-License-Identifier: Apache-2.0
// process-lock: processes lock, increment one counter and unlock, n times in all; ns for each, over
// the number of processes. Figure 5 of N. Ekström, "Improving DSZOOM's run time system", 2004.
// Here: LOCK and UNLOCK of PARMACS, in processes of CREATE.
#include "../common/parmacs.hpp"

namespace tulle::bench {

namespace {

class counting {
public:
    counting() { tulle_parmacs_lock_init(&m_lock, 1); }

    void begin(int processes) {
        m_processes = processes;
        m_count = 0;
    }
    void turn(int) {
        tulle_parmacs_lock(m_lock);
        ++m_count;
        tulle_parmacs_unlock(m_lock);
    }
    [[nodiscard]] counted finish(long turns) const {
        long const counted_up = turns * m_processes;
        return {0, counted_up, m_count == counted_up};
    }

private:
    tulle_parmacs_lock_t m_lock{};
    int m_processes = 0;
    alignas(64) long m_count = 0;
};

} // namespace

benchmark const registered("process-lock", "tulle_parmacs", [](int argc, char** argv) {
    return parmacs_main<counting>(argc, argv, "process-lock", "tulle_parmacs",
                                  {100'000, 10'000, 20});
});

} // namespace tulle::bench
