// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/idle_poller.hpp"

#include <cstdint>

// Of other places, which make no work here.
class silent_poller : public tulle::base::idle_poller {
public:
    bool poll() noexcept override { return false; }
    bool poll_between() noexcept override { return false; }
    [[nodiscard]] std::uint64_t expects_until() const noexcept override { return 0; }
    void let_others_run() noexcept override {}
    void begin_watch() noexcept override {}
    void end_watch(bool) noexcept override {}
    bool take_work(bool) noexcept override { return false; }
    [[nodiscard]] bool set_wake_flags() noexcept override { return false; }
    [[nodiscard]] bool has_work() const noexcept override { return false; }
};
