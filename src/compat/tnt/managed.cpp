// SPDX-License-Identifier: Apache-2.0
#include "compat/tnt/managed.hpp"

#include <tnt.h>
#include <tulle.h>
#include <tulle/c/global_memory.h>
#include <tulle/detail/remote.hpp>

#include <algorithm>

namespace tulle::tnt {

namespace {

constexpr std::int64_t k_second_ns = 1'000'000'000;

// Of a point before 1970, which has passed like all others: 0. Of one that is later than any that
// matters: the latest.
std::int64_t nanoseconds_of(timespec const& time) noexcept {
    if (time.tv_sec < 0) return 0;
    return time.tv_sec > k_never / k_second_ns - 1 ? k_never - 1
                                                   : time.tv_sec * k_second_ns + time.tv_nsec;
}

} // namespace

place next_manager() {
    static std::atomic<unsigned> s_turn{0};
    // relaxed: a number of each its own
    auto const turn = s_turn.fetch_add(1, std::memory_order_relaxed);
    return place(static_cast<int>((turn + static_cast<unsigned>(here().index())) %
                                  static_cast<unsigned>(place_count())));
}

std::uint64_t common_name(void const* variable) {
    if (std::uint64_t const name = detail::name_of_code(variable)) return name;
    return tulle_global_place_of(variable) >= 0 ? reinterpret_cast<std::uintptr_t>(variable) : 0;
}

place manager_of(std::uint64_t name) {
    constexpr std::uint64_t k_words = 8; // neighbours go to different nodes
    return place(static_cast<int>(name / k_words % static_cast<std::uint64_t>(place_count())));
}

std::int64_t deadline_of(timespec const* when) noexcept {
    if (when == nullptr || when->tv_nsec < 0 || when->tv_nsec >= k_second_ns) return -1;
    return nanoseconds_of(*when);
}

std::int64_t left_until(std::int64_t deadline) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return std::max<std::int64_t>(deadline - nanoseconds_of(now), 0);
}

number caller() {
    constexpr number k_other = number{1} << 63U; // than one of TNT
    if (number const own = tnt_self()) return own;
    return k_other | static_cast<number>(here().index()) << k_serial_bits | tulle_self_id();
}

} // namespace tulle::tnt
