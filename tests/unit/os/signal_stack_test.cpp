// SPDX-License-Identifier: Apache-2.0
#include "os/signal_stack.hpp"

#include <csignal>
#include <thread>

#include <gtest/gtest.h>

namespace {

using tulle::os::signal_stack;

stack_t present() {
    stack_t now{};
    EXPECT_EQ(::sigaltstack(nullptr, &now), 0);
    return now;
}

// On an OS thread that has none: sanitizers give every thread one.
TEST(signal_stack, installed_and_removed) {
    std::thread([] {
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        stack_t before{};
        ASSERT_EQ(::sigaltstack(&none, &before), 0);
        signal_stack handlers;
        handlers.install();
        EXPECT_EQ(present().ss_flags & SS_DISABLE, 0);
        EXPECT_EQ(present().ss_size, signal_stack::k_bytes);
        handlers.remove();
        EXPECT_NE(present().ss_flags & SS_DISABLE, 0);
        if ((before.ss_flags & SS_DISABLE) == 0) ::sigaltstack(&before, nullptr);
    }).join();
}

TEST(signal_stack, one_that_is_there_is_kept) {
    std::thread([] {
        stack_t const before = present();
        alignas(16) static char memory[65536];
        stack_t own{};
        own.ss_sp = memory;
        own.ss_size = sizeof memory;
        ASSERT_EQ(::sigaltstack(&own, nullptr), 0);
        signal_stack handlers;
        handlers.install();
        EXPECT_EQ(present().ss_sp, memory);
        handlers.remove();
        EXPECT_EQ(present().ss_sp, memory);
        ::sigaltstack(&before, nullptr);
    }).join();
}

} // namespace
