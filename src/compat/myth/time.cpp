// SPDX-License-Identifier: Apache-2.0
#include "compat/myth/time.hpp"

#include "compat/myth/library.hpp"

#include <tulle.h>
#include <tulle/detail/deadline.hpp>
#include <tulle/this_thread.hpp>

#include <cerrno>
#include <limits>

namespace tulle::myth {

namespace {

constexpr std::int64_t k_ns_per_second = 1'000'000'000;
constexpr std::int64_t k_most_seconds = // in ns, with room for those of a second
    std::numeric_limits<std::int64_t>::max() / k_ns_per_second - 1;

bool is_time(timespec const* t) noexcept {
    return t != nullptr && t->tv_nsec >= 0 && t->tv_nsec < k_ns_per_second;
}

// Of a point that is later than any that matters: the latest.
std::int64_t as_ns(timespec const& t) noexcept {
    if (t.tv_sec > k_most_seconds) return std::numeric_limits<std::int64_t>::max();
    if (t.tv_sec < -k_most_seconds) return std::numeric_limits<std::int64_t>::min();
    return t.tv_sec * k_ns_per_second + t.tv_nsec;
}

} // namespace

int timeout_of(timespec const* at, std::uint64_t& timeout) noexcept {
    if (!is_time(at)) return EINVAL;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    std::int64_t const wanted = as_ns(*at);
    std::int64_t const present = as_ns(now);
    timeout = wanted <= present ? 0 : static_cast<std::uint64_t>(wanted - present);
    return 0;
}

int deadline_of(timespec const* at, std::uint64_t& deadline) noexcept {
    std::uint64_t timeout = 0;
    if (int const error = timeout_of(at, timeout)) return error;
    deadline = timeout == 0 ? 0 : detail::now_ns() + timeout;
    return 0;
}

int duration_of(timespec const* duration, std::uint64_t& ns) noexcept {
    if (!is_time(duration) || duration->tv_sec < 0) return EINVAL;
    ns = static_cast<std::uint64_t>(as_ns(*duration));
    return 0;
}

} // namespace tulle::myth

using namespace tulle::myth;

namespace {

int sleep_for_ns(std::uint64_t ns) noexcept {
    if (int const error = ensure_started()) return error;
    return positive(tulle_sleep_ns(ns));
}

} // namespace

int myth_nanosleep(const struct timespec* req, struct timespec* rem) {
    std::uint64_t ns = 0;
    if (int const error = duration_of(req, ns)) return error;
    int const error = sleep_for_ns(ns);
    if (error == 0 && rem != nullptr) *rem = {};
    return error;
}
int myth_usleep(unsigned int usec) { return sleep_for_ns(std::uint64_t{usec} * 1000); }
unsigned int myth_sleep(unsigned int s) {
    return sleep_for_ns(std::uint64_t{s} * k_ns_per_second) == 0 ? 0 : s;
}
