// SPDX-License-Identifier: Apache-2.0
// The yardstick: no threads at all. Both halves of a fork run one after the other in the caller.
//
// Each header of this folder describes one library to the workloads, under the same names:
//   k_name               what the JSON line calls it
//   (constructor)        starts the library with so many workers; the destructor stops it
//   run(f)               calls f inside the library and returns when f has
//   invoke(f, g)         forks f, calls g, joins f, and returns the pair of their results if they
//                        have any
//   group                any number of children: spawn(f), wait()
// and those whose threads may block also have
//   detach(f)            starts f; nobody joins it
//   yield()              lets another thread run
//   mutex, event         event: wait() blocks until set()
// and, if the thread that started the library is one of its workers,
//   alongside(f)         calls f in a foreign thread; meanwhile the caller waits as a worker
//                        without work
#pragma once

#include "fork_join.hpp"

#include <utility>

namespace tulle::bench {

struct serial_runtime : fork_join<serial_runtime> {
    static constexpr char const* k_name = "serial";

    explicit serial_runtime(int) {}

    template <class F> void run(F&& f) { f(); }

    template <class F, class G> static auto both(F f, G g) {
        auto a = f();
        auto b = g();
        return std::pair{a, b};
    }

    template <class F, class G> static void both_void(F f, G g) {
        f();
        g();
    }

    class group {
    public:
        template <class F> void spawn(F f) { f(); }
        void wait() {}
    };
};

} // namespace tulle::bench
