// SPDX-License-Identifier: Apache-2.0
// process-barrier: processes of one host meet at a barrier; ns for each time, over their number.
// Here: a barrier of POSIX that processes share.
#include "../common/forked.hpp"
#include "arrivals.hpp"

#include <pthread.h>

namespace tulle::bench {

namespace {

class meeting {
public:
    explicit meeting(int processes) {
        pthread_barrierattr_t attributes;
        pthread_barrierattr_init(&attributes);
        pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_barrier_init(&m_barrier, &attributes, static_cast<unsigned>(processes));
        pthread_barrierattr_destroy(&attributes);
        m_all.begin(processes);
    }
    meeting(meeting const&) = delete;
    meeting& operator=(meeting const&) = delete;
    ~meeting() { pthread_barrier_destroy(&m_barrier); }

    void turn(int number) {
        m_all.turn(number, [&] { pthread_barrier_wait(&m_barrier); });
    }
    [[nodiscard]] counted finish(long turns) const { return m_all.finish(turns); }

private:
    pthread_barrier_t m_barrier{};
    arrivals m_all;
};

} // namespace

benchmark const registered("process-barrier", "pthread", [](int argc, char** argv) {
    return forked_main<meeting>(argc, argv, "process-barrier", "pthread", k_arrivals);
});

} // namespace tulle::bench
