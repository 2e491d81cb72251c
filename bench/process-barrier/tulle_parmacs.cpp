// SPDX-License-Identifier: Apache-2.0
// process-barrier: processes of one host meet at a barrier; ns for each time, over their number.
// Here: BARRIER of PARMACS, in processes of CREATE.
#include "../common/parmacs.hpp"
#include "arrivals.hpp"

namespace tulle::bench {

namespace {

class meeting {
public:
    meeting() { tulle_parmacs_barrier_init(&m_barrier, 1); }

    void begin(int processes) {
        m_processes = processes;
        m_all.begin(processes);
    }
    void turn(int number) {
        m_all.turn(number, [&] { tulle_parmacs_barrier(m_barrier, m_processes); });
    }
    [[nodiscard]] counted finish(long turns) const { return m_all.finish(turns); }

private:
    tulle_parmacs_barrier_t m_barrier{};
    int m_processes = 1;
    arrivals m_all;
};

} // namespace

benchmark const registered("process-barrier", "tulle_parmacs", [](int argc, char** argv) {
    return parmacs_main<meeting>(argc, argv, "process-barrier", "tulle_parmacs", k_arrivals);
});

} // namespace tulle::bench
