// SPDX-License-Identifier: Apache-2.0
// What the handler prints: tests/reports/overflow_test.py.
#include "diag/fault_handler.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace {

using namespace tulle;

struct sigaction present() {
    struct sigaction found {};
    ::sigaction(SIGSEGV, nullptr, &found);
    return found;
}

void program_handler(int) {}

class fault_handler : public ::testing::Test {
protected:
    void SetUp() override { // a sanitizer may have a handler
        m_before = present();
        std::signal(SIGSEGV, SIG_DFL);
        if (present().sa_handler != SIG_DFL)
            GTEST_SKIP() << "a sanitizer keeps the signal for itself";
    }
    void TearDown() override { ::sigaction(SIGSEGV, &m_before, nullptr); }

private:
    struct sigaction m_before {};
};

TEST_F(fault_handler, takes_a_signal_that_nobody_handles_and_gives_it_back) {
    diag::explain_overflows();
    EXPECT_NE(present().sa_handler, SIG_DFL);
    EXPECT_EQ(present().sa_flags & (SA_SIGINFO | SA_ONSTACK), SA_SIGINFO | SA_ONSTACK);
    diag::explain_overflows(); // once is enough
    diag::stop_explaining_overflows();
    EXPECT_EQ(present().sa_handler, SIG_DFL);
}

TEST_F(fault_handler, leaves_the_programs_handler_alone) {
    for (auto const theirs : {&program_handler, SIG_IGN}) {
        std::signal(SIGSEGV, theirs);
        diag::explain_overflows();
        EXPECT_EQ(present().sa_handler, theirs);
        diag::stop_explaining_overflows();
        EXPECT_EQ(present().sa_handler, theirs);
    }
}

TEST_F(fault_handler, leaves_a_handler_alone_that_came_later) {
    diag::explain_overflows();
    std::signal(SIGSEGV, &program_handler);
    diag::stop_explaining_overflows();
    EXPECT_EQ(present().sa_handler, &program_handler);
}

} // namespace
