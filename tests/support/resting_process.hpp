// SPDX-License-Identifier: Apache-2.0
// A process that does nothing until it is killed: somebody that is alive, and then is not.
#pragma once

#include <csignal>
#include <utility>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

class resting_process {
public:
    resting_process() : m_number(fork()) {
        if (m_number != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
    }
    resting_process(resting_process&& other) noexcept
        : m_number(std::exchange(other.m_number, -1)) {}
    resting_process& operator=(resting_process&&) = delete;
    ~resting_process() { end(); }

    [[nodiscard]] pid_t number() const noexcept { return m_number; }
    // It is a zombie until end().
    void kill() const noexcept {
        ::kill(m_number, SIGKILL);
        siginfo_t info{};
        waitid(P_PID, static_cast<id_t>(m_number), &info, WEXITED | WNOWAIT);
    }
    void end() noexcept {
        if (m_number <= 0) return;
        ::kill(m_number, SIGKILL);
        waitpid(std::exchange(m_number, -1), nullptr, 0);
    }

private:
    pid_t m_number;
};
