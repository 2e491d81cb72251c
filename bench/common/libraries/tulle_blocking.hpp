// SPDX-License-Identifier: Apache-2.0
// The part of Tulle whose threads wait for each other, as the workloads see it (names: serial.hpp).
#pragma once

#include "tulle.hpp"

#include <cstddef>
#include <thread>

#include <tulle/latch.hpp>
#include <tulle/mutex.hpp>

namespace tulle::bench {

class tulle_event {
public:
    void wait() { m_latch.wait(); }
    void set() { m_latch.count_down(); }

private:
    tulle::latch m_latch{1};
};

// Threads with stacks of 16 KiB, each with a guard below it.
struct tulle_blocking_runtime : tulle_runtime {
    static constexpr std::size_t k_stack_size = 16 * 1024;

    using tulle_runtime::tulle_runtime;
    using mutex = tulle::mutex;
    using event = tulle_event;

    template <class F> static void detach(F f) {
        tulle::spawn_detached(tulle::attributes{.stack_size = k_stack_size, .child_first = true},
                              f);
    }

    // Work for an idle program, from any thread.
    template <class F> void post(F f) { tulle::spawn_detached(f); }

    template <class F> void alongside(F f) {
        tulle_event ended;
        std::thread foreign([&] {
            f();
            ended.set();
        });
        ended.wait();
        foreign.join();
    }
};

// The class of small stacks without guards, for threads known to be shallow.
struct tulle_compact_runtime : tulle_runtime {
    static constexpr char const* k_name = "tulle_compact";
    static constexpr std::size_t k_stack_size = 1024;

    using tulle_runtime::tulle_runtime;
    using event = tulle_event;

    template <class F> static void detach(F f) {
        tulle::spawn_detached(tulle::attributes{.stack_size = k_stack_size, .child_first = true},
                              f);
    }
};

} // namespace tulle::bench
