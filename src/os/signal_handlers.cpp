// SPDX-License-Identifier: Apache-2.0
#include "os/signal_handlers.hpp"

#include <csignal>

namespace tulle::os {

namespace {

constexpr int k_last_signal = 64;

constexpr std::uint64_t k_own_doing =
    signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGFPE) | signal_bit(SIGILL) |
    signal_bit(SIGTRAP) | signal_bit(SIGSYS) | signal_bit(SIGABRT) | signal_bit(SIGPIPE) |
    signal_bit(SIGXFSZ) | signal_bit(SIGPROF) | signal_bit(SIGVTALRM) | signal_bit(SIGXCPU);

struct named_signal {
    int number;
    char const* name;
};

constexpr named_signal k_names[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGUSR1, "SIGUSR1"},
    {SIGUSR2, "SIGUSR2"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGCHLD, "SIGCHLD"},
    {SIGCONT, "SIGCONT"}, {SIGTSTP, "SIGTSTP"}, {SIGIO, "SIGIO"},     {SIGWINCH, "SIGWINCH"}};

} // namespace

std::uint64_t handled_signals() noexcept {
    std::uint64_t handled = 0;
    for (int signal = 1; signal <= k_last_signal; ++signal) {
        struct sigaction present {};
        // Those that the C library keeps for itself are refused.
        if ((k_own_doing & signal_bit(signal)) != 0 ||
            ::sigaction(signal, nullptr, &present) != 0) {
            continue;
        }
        if (present.sa_handler != SIG_DFL && present.sa_handler != SIG_IGN) {
            handled |= signal_bit(signal);
        }
    }
    return handled;
}

char const* name_of_signal(int signal) noexcept {
    for (named_signal const& known : k_names) {
        if (known.number == signal) {
            return known.name;
        }
    }
    return nullptr;
}

} // namespace tulle::os
