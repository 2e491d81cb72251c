// SPDX-License-Identifier: Apache-2.0
#include "arch/ucontext_backend.hpp"
#include "emulated.hpp"
#include "forbidden_call.hpp"

#include <cerrno>
#include <vector>

#include <gtest/gtest.h>
#include <sys/syscall.h>

namespace {

#if !defined(TULLE_ANNOTATE_ADDRESS) &&                                                            \
    !defined(TULLE_ANNOTATE_THREAD) // they would have to be told of each switch, and use the mask
using backend = tulle::arch::ucontext_backend;

void return_at_once(void*) {}

struct one_context {
    std::vector<std::byte> stack = std::vector<std::byte>(65536);
    backend::context made, caller;
    one_context() { backend::make(made, stack.data(), stack.size(), &return_at_once, nullptr); }
};

void return_from_an_entry() {
    one_context c;
    backend::switch_to(c.caller, c.made);
}

// All three keep the signal mask by this call.
void forbid_signal_masks() { forbid_system_call(SYS_rt_sigprocmask, EPERM); }

void make_without_signal_masks() {
    forbid_signal_masks();
    one_context const c;
}
void switch_without_signal_masks() {
    one_context c;
    forbid_signal_masks();
    backend::switch_to(c.caller, c.made);
}
void set_without_signal_masks() {
    one_context c;
    forbid_signal_masks();
    backend::set(c.made);
}

TEST(ucontext_backend_death_test, entry_returns) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(return_from_an_entry(),
                 "tulle: the entry function of a context returned; it must switch away for good");
}

TEST(ucontext_backend_death_test, system_refuses) {
    TULLE_SKIP_IF_EMULATED("it refuses filters of system calls");
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(make_without_signal_masks(), "tulle: getcontext failed with errno 1");
    EXPECT_DEATH(switch_without_signal_masks(), "tulle: swapcontext failed with errno 1");
    EXPECT_DEATH(set_without_signal_masks(), "tulle: setcontext failed with errno 1");
}
#endif

} // namespace
