// SPDX-License-Identifier: Apache-2.0
#include "sched/timed.hpp"

#include "os/futex.hpp"
#include "sched/parking.hpp"
#include "wait/limit_wait.hpp"

namespace tulle::sched {

namespace {

// An OS thread that has not used the library does not begin to by sleeping.
void sleep_as_stranger(std::uint64_t deadline) noexcept {
    std::atomic<std::uint32_t> never{0};
    while (os::futex_wait(never, 0, deadline) != os::wait_result::timed_out) {}
}

} // namespace

void sleep_until_ns(std::uint64_t deadline) noexcept {
    if (this_worker() == nullptr) return sleep_as_stranger(deadline);
    if (now_ns() >= deadline) return yield();
    do wait::wait_for_time<parking>({wait_kind::sleep, nullptr}, deadline);
    while (now_ns() < deadline);
}

} // namespace tulle::sched
