// SPDX-License-Identifier: Apache-2.0
#include "os/signal_handlers.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace {

using namespace tulle::os;

void handle(int) {}

// Until the end of the scope.
class handler_of {
public:
    handler_of(int signal, void (*handler)(int))
        : m_signal(signal), m_before(std::signal(signal, handler)) {}
    ~handler_of() { std::signal(m_signal, m_before); }
    handler_of(handler_of const&) = delete;
    handler_of& operator=(handler_of const&) = delete;

private:
    int m_signal;
    void (*m_before)(int);
};

TEST(signal_handlers, those_that_somebody_else_may_send_count) {
    for (int const signal : {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD,
                             SIGIO, SIGWINCH, SIGRTMIN, SIGRTMAX}) {
        std::uint64_t const before = handled_signals() & ~signal_bit(signal);
        {
            handler_of const installed(signal, &handle);
            EXPECT_EQ(handled_signals(), before | signal_bit(signal)) << signal;
        }
        handler_of const none(signal, SIG_DFL);
        EXPECT_EQ(handled_signals(), before) << signal;
    }
}

TEST(signal_handlers, an_ignored_signal_is_not_handled) {
    handler_of const ignored(SIGUSR1, SIG_IGN);
    EXPECT_EQ(handled_signals() & signal_bit(SIGUSR1), 0U);
}

TEST(signal_handlers, what_a_process_causes_itself_does_not_count) {
    std::uint64_t const before = handled_signals();
    handler_of const fault(SIGFPE, &handle), pipe(SIGPIPE, &handle), profile(SIGPROF, &handle),
        end(SIGABRT, &handle);
    EXPECT_EQ(handled_signals(), before);
}

TEST(signal_handlers, have_names) {
    EXPECT_STREQ(name_of_signal(SIGTERM), "SIGTERM");
    EXPECT_EQ(name_of_signal(SIGRTMIN), nullptr);
}

} // namespace
