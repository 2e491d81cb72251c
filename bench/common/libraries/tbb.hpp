// SPDX-License-Identifier: Apache-2.0
// oneTBB, as the workloads see it (names: serial.hpp). Its tasks cannot block.
#pragma once

#include "fork_join.hpp"

#include <cstddef>
#include <utility>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

namespace tulle::bench {

class tbb_runtime : public fork_join<tbb_runtime> {
public:
    static constexpr char const* k_name = "tbb";

    explicit tbb_runtime(int workers)
        : m_limit(oneapi::tbb::global_control::max_allowed_parallelism,
                  static_cast<std::size_t>(workers)),
          m_arena(workers) {}

    template <class F> void run(F&& f) {
        m_arena.execute([&f] { f(); });
    }

    // A task to run some time, without a join.
    template <class F> void post(F f) { m_arena.enqueue(f); }

    template <class F, class G> static auto both(F f, G g) {
        decltype(f()) a{};
        oneapi::tbb::task_group children;
        children.run([&a, f] { a = f(); });
        auto b = g();
        children.wait();
        return std::pair{a, b};
    }

    template <class F, class G> static void both_void(F f, G g) {
        oneapi::tbb::task_group children;
        children.run(f);
        g();
        children.wait();
    }

    class group {
    public:
        template <class F> void spawn(F f) { m_children.run(f); }
        void wait() { m_children.wait(); }

    private:
        oneapi::tbb::task_group m_children;
    };

private:
    oneapi::tbb::global_control m_limit;
    oneapi::tbb::task_arena m_arena;
};

} // namespace tulle::bench
