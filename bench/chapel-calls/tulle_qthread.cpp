// SPDX-License-Identifier: Apache-2.0
// As Chapel's tasking layer for Qthreads calls it: initialised by an OS thread of its own, stacks
// of 8 MiB with guards, local memory of the layer's size, tasks without return words.
#include "chapel_calls.hpp"

#include <qthread/qthread.h>

#include <cstdlib>
#include <functional>
#include <string>

#include <pthread.h>
#include <sched.h>

namespace tulle::bench {
namespace {

struct local_data {
    chapel_bundle* bundle;
    char rest[56];
};

class qthread_layer {
public:
    explicit qthread_layer(int workers) {
        constexpr std::size_t k_stack = std::size_t{8} << 20U, k_page = 4096;
        std::size_t const data = (qthread_readstate(RUNTIME_DATA_SIZE) + k_page - 1) / k_page;
        set("STACK_SIZE", std::to_string(k_stack - (data + 2) * k_page));
        set("GUARD_PAGES", "true");
        set("TASKLOCAL_SIZE", std::to_string(sizeof(local_data)));
        set("NUM_SHEPHERDS", std::to_string(workers));
        set("NUM_WORKERS_PER_SHEPHERD", "1");
        set("STEAL_RATIO", "0");
        set("AFFINITY", "no");
        pthread_create(&m_initialiser, nullptr, &initialise, this);
        while (!m_runs.load(std::memory_order_acquire)) sched_yield();
    }
    ~qthread_layer() {
        qthread_fill(&m_may_end);
        pthread_join(m_initialiser, nullptr);
    }
    qthread_layer(qthread_layer const&) = delete;
    qthread_layer& operator=(qthread_layer const&) = delete;

    void run(std::function<void()> main_task) {
        aligned_t ended = 0;
        s_main = std::move(main_task);
        qthread_fork_copyargs(&run_main, nullptr, 0, &ended);
        qthread_readFF(nullptr, &ended);
    }
    static void fork(chapel_bundle const& bundle, std::size_t size) {
        qthread_fork_copyargs(&run_task, &bundle, size, nullptr);
    }
    static void run_unstarted() {}
    static void yield() { qthread_yield(); }

    class sync_variable {
    public:
        void wait_full_and_lock() { wait_and_lock(1, m_filled); }
        void wait_empty_and_lock() { wait_and_lock(0, m_emptied); }
        void mark_full_and_unlock() { mark_and_unlock(1, m_filled); }
        void mark_empty_and_unlock() { mark_and_unlock(0, m_emptied); }

    private:
        void wait_and_lock(int wanted, aligned_t& signal) {
            qthread_lock(&m_lock);
            while (m_is_full != wanted) {
                qthread_unlock(&m_lock);
                qthread_readFE(nullptr, &signal);
                qthread_lock(&m_lock);
            }
        }
        void mark_and_unlock(int is_full, aligned_t& signal) {
            qthread_fill(&signal);
            m_is_full = is_full;
            qthread_unlock(&m_lock);
        }

        aligned_t m_lock = 0;
        int m_is_full = 0;
        aligned_t m_filled = 0, m_emptied = 0;
    };

private:
    static void set(char const* name, std::string const& value) {
        setenv(("QT_" + std::string(name)).c_str(), value.c_str(), 1);
    }
    static void* initialise(void* layer) {
        auto* const self = static_cast<qthread_layer*>(layer);
        if (qthread_initialize() != QTHREAD_SUCCESS) std::abort();
        qthread_purge(&self->m_may_end);
        self->m_runs.store(true, std::memory_order_release);
        qthread_readFF(nullptr, &self->m_may_end);
        qthread_finalize();
        return nullptr;
    }
    static aligned_t run_main(void*) {
        s_main();
        return 0;
    }
    static aligned_t run_task(void* argument) {
        auto* const bundle = static_cast<chapel_bundle*>(argument);
        auto* const local = static_cast<local_data*>(qthread_get_tasklocal(sizeof(local_data)));
        *local = {bundle, {}};
        bundle->function(bundle);
        return 0;
    }

    static inline std::function<void()> s_main;
    pthread_t m_initialiser{};
    std::atomic<bool> m_runs{false};
    aligned_t m_may_end = 0;
};

} // namespace

benchmark const registered("chapel-calls", "tulle_qthread", [](int argc, char** argv) {
    return chapel_calls_main<qthread_layer>(argc, argv, "tulle_qthread");
});

} // namespace tulle::bench
