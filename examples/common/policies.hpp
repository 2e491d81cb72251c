// SPDX-License-Identifier: Apache-2.0
//
// Fork-join policies for the kernels and programs here: one source, several libraries. The contract
// of invoke() is described in bench/common/kernels/fib.hpp; run(workers, body) calls body where
// invoke may be called.
// Peers exist only where the build found them: oneTBB (TULLE_HAVE_TBB), OpenMP (_OPENMP).
// run_deep() is run() for work that nests deeply: peers run what they steal on top of what waits,
// so they need far more stack than the work itself does.
#pragma once

#include "contest.hpp"
#include "large_stack.hpp"

#include <tulle/tulle.hpp>

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(TULLE_HAVE_TBB)
#include <tbb/global_control.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#endif

namespace examples {

template <class F> inline constexpr bool returns_void = std::is_void_v<std::invoke_result_t<F&>>;

struct tulle_policy {
    static constexpr char const* k_name = "tulle";

    template <class F, class G> static auto invoke(F&& f, G&& g) {
        auto child = tulle::fork(std::forward<F>(f));
        if constexpr (returns_void<F>) {
            g();
            child.join();
        } else {
            auto second = g();
            auto first = child.join();
            return std::pair(std::move(first), std::move(second));
        }
    }

    // The runtime is up already (runtime_session) and has the number of workers that it has.
    template <class Body> static void run(int /*workers*/, Body const& body) {
        tulle::spawn([&body] { body(); }).join();
    }
    template <class Body> static void run_deep(int workers, Body const& body) {
        run(workers, body);
    }
};

struct serial_policy {
    static constexpr char const* k_name = "serial";

    template <class F, class G> static auto invoke(F&& f, G&& g) {
        if constexpr (returns_void<F>) {
            f();
            g();
        } else {
            auto first = f();
            return std::pair(std::move(first), g());
        }
    }

    template <class Body> static void run(int /*workers*/, Body const& body) { body(); }
    template <class Body> static void run_deep(int workers, Body const& body) {
        run(workers, body);
    }
};

#if defined(TULLE_HAVE_TBB)
struct tbb_policy {
    static constexpr char const* k_name = "oneTBB";

    template <class F, class G> static auto invoke(F&& f, G&& g) {
        if constexpr (returns_void<F>) {
            tbb::parallel_invoke(f, g);
        } else {
            std::optional<std::invoke_result_t<F&>> first;
            std::optional<std::invoke_result_t<G&>> second;
            tbb::parallel_invoke([&] { first.emplace(f()); }, [&] { second.emplace(g()); });
            return std::pair(std::move(*first), std::move(*second));
        }
    }

    template <class Body> static void run(int workers, Body const& body) {
        tbb::global_control const limit(tbb::global_control::max_allowed_parallelism,
                                        static_cast<std::size_t>(workers));
        tbb::task_arena arena(workers);
        arena.execute(body);
    }
    template <class Body> static void run_deep(int workers, Body const& body) {
        tbb::global_control const stacks(tbb::global_control::thread_stack_size, k_large_stack);
        run_on_large_stack([workers, &body] { run(workers, body); });
    }
};
#endif

#if defined(_OPENMP)
struct omp_policy {
    static constexpr char const* k_name = "OpenMP tasks";

    template <class F, class G> static auto invoke(F&& f, G&& g) {
        if constexpr (returns_void<F>) {
#pragma omp task default(shared)
            f();
            g();
#pragma omp taskwait
        } else {
            std::optional<std::invoke_result_t<F&>> first;
#pragma omp task default(shared)
            first.emplace(f());
            auto second = g();
#pragma omp taskwait
            return std::pair(std::move(*first), std::move(second));
        }
    }

    template <class Body> static void run(int workers, Body const& body) {
#pragma omp parallel num_threads(workers)
#pragma omp single
        body();
    }
    // See request_large_openmp_stacks.
    template <class Body> static void run_deep(int workers, Body const& body) {
        run_on_large_stack([workers, &body] { run(workers, body); });
    }
};
#endif

// A contestant for each library there is: work.template operator()<Policy>() does the job with that
// policy, which nests deeply or not. The serial one comes second; a program with a better serial
// version replaces what it runs.
template <class Work> std::vector<contestant> contestants_for(Work work, bool deep = false) {
    int const workers = tulle::worker_count();
    std::vector<contestant> all;
    auto const add = [&]<class Policy>(Policy, role kind) {
        all.push_back({Policy::k_name, kind, [work, workers, deep] {
                           auto const body = [&work] { work.template operator()<Policy>(); };
                           deep ? Policy::run_deep(workers, body) : Policy::run(workers, body);
                       }});
    };
    add(tulle_policy{}, role::tulle);
    add(serial_policy{}, role::serial);
#if defined(TULLE_HAVE_TBB)
    add(tbb_policy{}, role::peer);
#endif
#if defined(_OPENMP)
    add(omp_policy{}, role::peer);
#endif
    return all;
}

// Calls body(i) for each i in [low, high), in parallel as the policy sees fit.
template <class Policy, class Body>
void parallel_for(std::size_t low, std::size_t high, Body const& body) {
    if (low >= high) return;
    if (high - low == 1) return body(low);
    std::size_t const middle = low + (high - low) / 2;
    Policy::invoke([&body, middle, high] { parallel_for<Policy>(middle, high, body); },
                   [&body, low, middle] { parallel_for<Policy>(low, middle, body); });
}

} // namespace examples
