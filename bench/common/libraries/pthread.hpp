// SPDX-License-Identifier: Apache-2.0
// Threads of the operating system, as the workloads see them (names: serial.hpp): stacks of 64 KiB;
// the number of workers is the number of CPUs that the process may use, the lowest ones it is
// allowed.
#pragma once

#include "fork_join.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace tulle::bench {

class pthread_runtime : public fork_join<pthread_runtime> {
public:
    static constexpr char const* k_name = "pthread";
    static constexpr std::size_t k_stack_size = 64 * 1024;

    explicit pthread_runtime(int workers) {
        cpu_set_t allowed;
        if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
        cpu_set_t chosen;
        CPU_ZERO(&chosen);
        for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&chosen) < workers; ++cpu)
            if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &chosen);
        sched_setaffinity(0, sizeof chosen, &chosen);
    }

    template <class F> void run(F&& f) { f(); }

    template <class F, class G> static auto both(F f, G g) {
        decltype(f()) a{};
        pthread_t const child = start([&a, f] { a = f(); });
        auto b = g();
        pthread_join(child, nullptr);
        return std::pair{a, b};
    }

    template <class F, class G> static void both_void(F f, G g) {
        pthread_t const child = start(f);
        g();
        pthread_join(child, nullptr);
    }

    class group {
    public:
        template <class F> void spawn(F f) { m_threads.push_back(start(f)); }
        void wait() {
            for (pthread_t const thread : m_threads) pthread_join(thread, nullptr);
            m_threads.clear();
        }

    private:
        std::vector<pthread_t> m_threads;
    };

    template <class F> static void detach(F f) { pthread_detach(start(f)); }

    static void yield() { sched_yield(); }

    using mutex = std::mutex;

    class event {
    public:
        void wait() {
            std::unique_lock hold(m_mutex);
            m_changed.wait(hold, [this] { return m_set; });
        }
        void set() {
            {
                std::lock_guard const hold(m_mutex);
                m_set = true;
            }
            m_changed.notify_all();
        }

    private:
        std::mutex m_mutex;
        std::condition_variable m_changed;
        bool m_set = false;
    };

private:
    template <class F> static void* entry(void* argument) {
        F* const f = static_cast<F*>(argument);
        (*f)();
        delete f;
        return nullptr;
    }

    template <class F> static pthread_t start(F f) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, k_stack_size);
        pthread_t thread{};
        if (pthread_create(&thread, &attributes, &entry<F>, new F(f)) != 0) {
            std::fputs("bench: cannot create another pthread; lower --n\n", stderr);
            std::exit(1);
        }
        pthread_attr_destroy(&attributes);
        return thread;
    }
};

} // namespace tulle::bench
