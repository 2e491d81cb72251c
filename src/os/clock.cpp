// SPDX-License-Identifier: Apache-2.0
#include "os/clock.hpp"

#include <ctime>

namespace tulle::os {

namespace {

std::uint64_t now_of(clockid_t clock) noexcept {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

std::uint64_t monotonic_ns() noexcept { return now_of(CLOCK_MONOTONIC); }

std::uint64_t process_time_ns() noexcept { return now_of(CLOCK_PROCESS_CPUTIME_ID); }

} // namespace tulle::os
