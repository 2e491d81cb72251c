// SPDX-License-Identifier: Apache-2.0
// process-lock: processes of one host lock, increment one counter and unlock, n times in all; ns
// for each, over the number of processes. Here: a mutex of POSIX that processes share.
#include "counting.hpp"

#include <pthread.h>

namespace tulle::bench {

namespace {

class shared_mutex {
public:
    shared_mutex() {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        pthread_mutex_init(&m_mutex, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    shared_mutex(shared_mutex const&) = delete;
    shared_mutex& operator=(shared_mutex const&) = delete;
    ~shared_mutex() { pthread_mutex_destroy(&m_mutex); }
    void lock() { pthread_mutex_lock(&m_mutex); }
    void unlock() { pthread_mutex_unlock(&m_mutex); }

private:
    pthread_mutex_t m_mutex{};
};

} // namespace

benchmark const registered("process-lock", "pthread", [](int argc, char** argv) {
    return forked_lock_main<shared_mutex>(argc, argv, "pthread");
});

} // namespace tulle::bench
