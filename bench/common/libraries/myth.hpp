// SPDX-License-Identifier: Apache-2.0
// The interface of MassiveThreads, as the workloads see it (names: serial.hpp): of Tulle's face for
// it, and of MassiveThreads itself where that is installed. Who derives from it says k_name.
#pragma once

#include "fork_join.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <myth/myth.h>

namespace tulle::bench {

class myth_runtime : public fork_join<myth_runtime> {
public:
    explicit myth_runtime(int workers) {
        myth_globalattr_set_n_workers(nullptr, static_cast<std::size_t>(workers));
        myth_init();
    }
    ~myth_runtime() { myth_fini(); }
    myth_runtime(myth_runtime const&) = delete;
    myth_runtime& operator=(myth_runtime const&) = delete;

    template <class F> void run(F&& f) { myth_join(start(f), nullptr); }

    template <class F, class G> static auto both(F f, G g) {
        decltype(f()) a{};
        auto child = [&a, &f] { a = f(); };
        myth_thread_t const thread = start(child);
        auto b = g();
        myth_join(thread, nullptr);
        return std::pair{a, b};
    }

    template <class F, class G> static void both_void(F f, G g) {
        myth_thread_t const thread = start(f);
        g();
        myth_join(thread, nullptr);
    }

    class group {
    public:
        template <class F> void spawn(F f) {
            m_threads.push_back(checked(myth_create(&own_entry<F>, new F(f))));
        }
        void wait() {
            for (myth_thread_t const thread : m_threads) myth_join(thread, nullptr);
            m_threads.clear();
        }

    private:
        std::vector<myth_thread_t> m_threads;
    };

    static void yield() { myth_yield(); }

private:
    static myth_thread_t checked(myth_thread_t made) {
        if (made != nullptr) return made;
        std::fputs("bench: cannot create another thread; lower --n\n", stderr);
        std::exit(1);
    }
    template <class F> static void* entry(void* f) {
        (*static_cast<F*>(f))();
        return nullptr;
    }
    template <class F> static void* own_entry(void* argument) {
        F* const f = static_cast<F*>(argument);
        (*f)();
        delete f;
        return nullptr;
    }
    template <class F> static myth_thread_t start(F& f) {
        return checked(myth_create(&entry<F>, &f));
    }
};

struct tulle_myth_runtime : myth_runtime {
    static constexpr char const* k_name = "tulle_myth";
    using myth_runtime::myth_runtime;
};

struct massivethreads_runtime : myth_runtime {
    static constexpr char const* k_name = "massivethreads";
    using myth_runtime::myth_runtime;
};

} // namespace tulle::bench
