// SPDX-License-Identifier: Apache-2.0
#include "watched_signals.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <poll.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

constexpr int k_patience_at_end_ms = 100; // with who reads slowly

bool ends_process(int number) noexcept {
    return number == SIGINT || number == SIGTERM || number == SIGHUP;
}

// The kernel keeps one that is blocked although it is ignored.
bool is_ignored(int number) noexcept {
    struct sigaction present {};
    return sigaction(number, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
}

descriptor descriptor_of(sigset_t const& signals) {
    descriptor made(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!made.is_open()) throw std::system_error(errno, std::generic_category(), "signalfd");
    return made;
}

} // namespace

watched_signals::watched_signals(std::initializer_list<int> numbers) {
    sigset_t all;
    sigset_t ending;
    sigemptyset(&all);
    sigemptyset(&ending);
    for (int const number : numbers) {
        // We may have inherited that nobody waits for children.
        if (number == SIGCHLD) std::signal(SIGCHLD, SIG_DFL);
        if (is_ignored(number)) continue;
        sigaddset(&all, number);
        if (ends_process(number)) sigaddset(&ending, number);
    }
    m_all = descriptor_of(all);
    m_ending = descriptor_of(ending);
    sigprocmask(SIG_BLOCK, &all, &m_mask_before);
}

watched_signals::~watched_signals() {
    while (take()) {}
    restore_mask();
}

void watched_signals::restore_mask() const noexcept {
    sigprocmask(SIG_SETMASK, &m_mask_before, nullptr);
}

std::optional<signalfd_siginfo> watched_signals::take() noexcept {
    signalfd_siginfo info{};
    if (read(m_all.get(), &info, sizeof info) != sizeof info) return std::nullopt;
    m_is_ending |= ends_process(static_cast<int>(info.ssi_signo));
    return info;
}

bool watched_signals::wait_for_room(int to) noexcept {
    std::array<pollfd, 2> wanted{{{to, POLLOUT, 0}, {m_ending.get(), POLLIN, 0}}};
    int const patience = m_has_given_up ? 0 : m_is_ending ? k_patience_at_end_ms : -1;
    while (poll(wanted.data(), m_is_ending ? 1 : 2, patience) < 0 && errno == EINTR) {}
    if (wanted[0].revents != 0) return true; // also where a write fails, which says why
    m_has_given_up |= m_is_ending;
    return false;
}

} // namespace tulle::tool
