// SPDX-License-Identifier: Apache-2.0
// Signals that do not end this process: they are read from a descriptor. Those that it was started
// to ignore are still ignored.
#pragma once

#include "tagged_output.hpp"

#include <csignal>
#include <initializer_list>
#include <optional>

#include <sys/signalfd.h>

namespace tulle::tool {

class watched_signals {
public:
    // Throws std::system_error.
    explicit watched_signals(std::initializer_list<int> numbers);
    ~watched_signals(); // they are as before
    watched_signals(watched_signals const&) = delete;
    watched_signals& operator=(watched_signals const&) = delete;

    // Can be read when one has come.
    [[nodiscard]] int news() const noexcept { return m_all.get(); }
    [[nodiscard]] std::optional<signalfd_siginfo> take() noexcept;
    // For children.
    void restore_mask() const noexcept;

    // Waits until `to` takes some bytes. False: nobody has read it by the time that a signal came
    // that ends this process; from then on it is not waited for long.
    [[nodiscard]] bool wait_for_room(int to) noexcept;

private:
    sigset_t m_mask_before{};
    descriptor m_all;
    descriptor m_ending; // the same but for those that end nothing
    bool m_is_ending = false;
    bool m_has_given_up = false;
};

} // namespace tulle::tool
