// SPDX-License-Identifier: Apache-2.0
// What runs on a thread with the smallest stack that calls leave room on.
#pragma once

#include "base/sanitize.hpp"

#include <cstddef>

#include <gtest/gtest.h>

#include <tulle/latch.hpp>
#include <tulle/runtime.hpp>
#include <tulle/thread.hpp>

// What a sanitizer adds to frames, and so to what is kept free, leaves nothing of the smallest.
inline constexpr std::size_t k_small_stack =
    tulle::base::k_address_sanitizer || tulle::base::k_thread_sanitizer ? 65536 : 16384;

class on_small_stack : public testing::Test {
protected:
    on_small_stack() { tulle::initialize({.workers = 1, .stack_size = k_small_stack}); }
    ~on_small_stack() override { tulle::finalize(); }
    // Not joined, as that could run it on the stack of the caller.
    template <class F> static void run(F body) {
        tulle::latch done(1);
        tulle::spawn_detached([&] {
            body();
            done.count_down();
        });
        done.wait();
    }
};
