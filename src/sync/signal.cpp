// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"
#include "sync/signal_core.hpp"

#include <tulle/signal.hpp>

#include <stdexcept>

namespace tulle {

namespace {

using parking_signal = sync::signal_core<sync::parking>;
using error = sync::signal_error;

[[noreturn]] void refuse_waiter(void const* signal) noexcept {
    base::fatal_misuse(
        "signal %p: a second thread waits; a signal has one waiter, use a latch or a "
        "barrier for more",
        signal);
}

} // namespace

signal::signal(std::uint32_t count) {
    if (count > parking_signal::k_most)
        throw std::invalid_argument("tulle::signal: a count must be below 2^31");
    sync::open<parking_signal>(m_core).open(count);
}

void signal::notify() noexcept {
    if (sync::open<parking_signal>(m_core).notify() != error::none)
        base::fatal_misuse("signal %p is notified more often than its count says; raise it by "
                           "add_signalers() first",
                           static_cast<void*>(this));
}

void signal::add_signalers(std::uint32_t more) noexcept {
    if (sync::open<parking_signal>(m_core).add(more) != error::none)
        base::fatal_misuse("signal %p: %u more signalers make more than %u",
                           static_cast<void*>(this), more, parking_signal::k_most);
}

bool signal::try_wait() const noexcept {
    schedule_point();
    return sync::open<parking_signal>(m_core).is_zero();
}

void signal::wait() noexcept {
    if (sync::open<parking_signal>(m_core).wait() != error::none) refuse_waiter(this);
}

bool signal::wait_before(detail::limit until) noexcept {
    bool in_time = false;
    if (sync::open<parking_signal>(m_core).wait_until(until, in_time) != error::none)
        refuse_waiter(this);
    return in_time;
}

} // namespace tulle
