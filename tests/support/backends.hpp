// SPDX-License-Identifier: Apache-2.0
//
// The typed test suite that runs a test over every context backend.
#pragma once

#include <tuple>
#include <type_traits>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulated.hpp"
#include "test_fiber.hpp"

template <class Tuple> struct types_of;
template <class... Backends> struct types_of<std::tuple<Backends...>> {
    using type = ::testing::Types<Backends...>;
};
#if defined(TULLE_TEST_ASSEMBLY_ONLY)
using all_backends = types_of<tulle::arch::assembly_backends>::type;
#else
using all_backends = types_of<tulle::arch::all_backends>::type;
#endif

template <class Backend> class over_backends : public ::testing::Test {
protected:
    static constexpr bool k_is_setjmp = std::is_same_v<Backend, tulle::arch::setjmp_backend>;
    static constexpr bool k_is_assembly =
        !k_is_setjmp && !std::is_same_v<Backend, tulle::arch::ucontext_backend>;

    // An emulator that does not know a trap ends the process, with a status of its own. Any other
    // death is the backend's fault and for the tests to find.
    static bool switches_in_a_child() {
        pid_t const child = ::fork();
        if (child == 0) {
            test_fiber<Backend>([](auto&) {}).resume();
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return !WIFEXITED(status) || WEXITSTATUS(status) == 0;
    }

    void SetUp() override {
        if (k_is_setjmp && k_thread_sanitized) {
            GTEST_SKIP()
                << "ThreadSanitizer keeps a table of setjmp buffers per logical thread and aborts";
        }
        if constexpr (requires { Backend::k_enters_kernel; }) {
            static bool const is_known = !is_emulated() || switches_in_a_child();
            if (!is_known) GTEST_SKIP() << "this emulator does not know the trap of this backend";
        }
    }
};
