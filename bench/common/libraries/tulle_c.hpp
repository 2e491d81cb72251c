// SPDX-License-Identifier: Apache-2.0
// Tulle through its C interface, as the workloads see it (names: serial.hpp): a function pointer
// and an argument, and the library is entered by a call.
#pragma once

#include "fork_join.hpp"

#include <type_traits>
#include <utility>

#include <tulle.h>

namespace tulle::bench {

struct tulle_c_runtime : fork_join<tulle_c_runtime> {
    static constexpr char const* k_name = "tulle_c";

    explicit tulle_c_runtime(int workers) {
        tulle_options options{};
        options.workers = workers;
        tulle_init(&options);
    }
    ~tulle_c_runtime() { tulle_finalize(); }
    tulle_c_runtime(tulle_c_runtime const&) = delete;
    tulle_c_runtime& operator=(tulle_c_runtime const&) = delete;

    template <class F> void run(F&& f) {
        tulle_thread* thread = nullptr;
        auto const entry = [](void* argument) -> void* {
            (*static_cast<std::remove_reference_t<F>*>(argument))();
            return nullptr;
        };
        if (tulle_spawn(&thread, nullptr, entry, &f) == 0) tulle_thread_join(thread, nullptr);
    }

    template <class F, class G> static auto both(F f, G g) {
        struct call {
            F function;
            decltype(f()) result;
        } record{f, {}};
        auto const entry = [](void* argument) {
            auto& self = *static_cast<call*>(argument);
            self.result = self.function();
        };
        tulle_child const child = tulle_fork(entry, &record);
        auto b = g();
        tulle_join(child);
        return std::pair{record.result, b};
    }

    template <class F, class G> static void both_void(F f, G g) {
        tulle_child const child =
            tulle_fork([](void* argument) { (*static_cast<F*>(argument))(); }, &f);
        g();
        tulle_join(child);
    }
};

} // namespace tulle::bench
