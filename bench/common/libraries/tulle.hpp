// SPDX-License-Identifier: Apache-2.0
// Tulle through its C++ interface, as the workloads see it (names: serial.hpp).
#pragma once

#include "fork_join.hpp"

#include <system_error>
#include <utility>
#include <vector>

#include <tulle/fork.hpp>
#include <tulle/runtime.hpp>
#include <tulle/scope.hpp>
#include <tulle/this_thread.hpp>
#include <tulle/thread.hpp>

namespace tulle::bench {

struct tulle_runtime : fork_join<tulle_runtime> {
    static constexpr char const* k_name = "tulle";

    explicit tulle_runtime(int workers) { tulle::initialize({.workers = workers}); }
    ~tulle_runtime() {
        while (!finalized()) tulle::this_thread::yield();
    }
    tulle_runtime(tulle_runtime const&) = delete;
    tulle_runtime& operator=(tulle_runtime const&) = delete;

    template <class F> void run(F&& f) {
        tulle::spawn([&f] { f(); }).join();
    }

    template <class F, class G> static auto both(F f, G g) {
        auto child = tulle::fork(f);
        auto b = g();
        auto a = child.join();
        return std::pair{a, b};
    }

    template <class F, class G> static void both_void(F f, G g) {
        auto child = tulle::fork(f);
        g();
        child.join();
    }

    class group {
    public:
        template <class F> void spawn(F f) { m_scope.spawn(f); }
        void wait() { m_scope.join(); }

    private:
        tulle::scope m_scope;
    };

    static void yield() { tulle::this_thread::yield(); }

private:
    // False while detached threads, done with their work, have not quite ended.
    static bool finalized() {
        try {
            tulle::finalize();
        } catch (std::system_error const& refused) {
            if (refused.code() != std::errc::device_or_resource_busy) throw;
            return false;
        }
        return true;
    }
};

// Threads as objects, which may be joined in any order, instead of structured children.
struct tulle_thread_runtime : tulle_runtime {
    static constexpr char const* k_name = "tulle_thread";

    using tulle_runtime::tulle_runtime;

    class group {
    public:
        template <class F> void spawn(F f) { m_threads.push_back(tulle::spawn(f)); }
        void wait() {
            for (auto& thread : m_threads) thread.join();
            m_threads.clear();
        }

    private:
        std::vector<tulle::thread<void>> m_threads;
    };

    template <class F, class G> static void invoke(F&& f, G&& g) {
        auto thread = tulle::spawn(f);
        g();
        thread.join();
    }
};

} // namespace tulle::bench
