// SPDX-License-Identifier: Apache-2.0
// The C functions of <tulle/c/phases.h>.
#include "capi/limit.hpp"
#include "sync/phased_barrier_core.hpp"

#include <tulle/c/phases.h>
#include <tulle/latch.hpp>
#include <tulle/timer.hpp>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <system_error>

struct tulle_timer {
    tulle::latch is_known{1}; // to whoever started it: a call may destroy it
    tulle::timer timer;
};

namespace tulle::capi {
namespace {

using namespace sync;

struct c_phases {
    phased_barrier_core<parking> barrier;
    void (*completion)(void*);
    void* argument;
};
c_phases& core(tulle_phases_t* p) noexcept { return object_in<c_phases>(p); }

int arrive_c(tulle_phases_t* phases, bool drops, std::uint64_t& phase) noexcept {
    if (phases == nullptr) return -EINVAL;
    c_phases& p = core(phases);
    arrival_result const result = p.barrier.arrive(1, drops, phase);
    if (result == arrival_result::too_many) return -EPERM;
    if (result == arrival_result::counted) return 0;
    if (p.completion != nullptr) p.completion(p.argument);
    p.barrier.end_phase();
    return 0;
}
std::chrono::nanoseconds as_duration(std::uint64_t ns) noexcept {
    auto const most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return std::chrono::nanoseconds(static_cast<std::int64_t>(ns < most ? ns : most));
}

} // namespace
} // namespace tulle::capi

using namespace tulle::capi;

int tulle_phases_init(tulle_phases_t* phases, uint64_t participants, void (*completion)(void*),
                      void* argument) {
    if (clear_object(phases) != 0) return -EINVAL;
    core(phases).barrier.open(participants);
    core(phases).completion = completion;
    core(phases).argument = argument;
    return 0;
}

int tulle_phases_destroy(tulle_phases_t* phases) {
    if (phases == nullptr) return -EINVAL;
    return core(phases).barrier.has_waiters() ? -EBUSY : 0;
}

int tulle_phases_arrive(tulle_phases_t* phases, uint64_t* phase) {
    std::uint64_t unwanted = 0;
    return arrive_c(phases, false, phase == nullptr ? unwanted : *phase);
}

int tulle_phases_arrive_and_drop(tulle_phases_t* phases) {
    std::uint64_t unwanted = 0;
    return arrive_c(phases, true, unwanted);
}

int tulle_phases_arrive_and_wait(tulle_phases_t* phases) {
    std::uint64_t phase = 0;
    int const error = arrive_c(phases, false, phase);
    return error != 0 ? error : tulle_phases_wait(phases, phase);
}

int tulle_phases_wait(tulle_phases_t* phases, uint64_t phase) {
    if (phases == nullptr) return -EINVAL;
    core(phases).barrier.wait(phase);
    return 0;
}

int tulle_phases_trywait(tulle_phases_t* phases, uint64_t phase) {
    if (phases == nullptr) return -EINVAL;
    return core(phases).barrier.try_wait(phase) ? 0 : -EBUSY;
}

int tulle_phases_timedwait(tulle_phases_t* phases, uint64_t phase, uint64_t timeout_ns) {
    if (phases == nullptr) return -EINVAL;
    return core(phases).barrier.wait_until(phase, deadline_in(timeout_ns)) ? 0 : -ETIMEDOUT;
}

int tulle_phases_wait_within(tulle_phases_t* phases, uint64_t phase, const tulle_limit_t* limit) {
    if (phases == nullptr || limit == nullptr) return -EINVAL;
    return within(
        *limit, [=](tulle::detail::limit l) { return core(phases).barrier.wait_until(phase, l); });
}

// --- timers --------------------------------------------------------------------------------------

int tulle_timer_start(tulle_timer_t** out, uint64_t after_ns, uint64_t period_ns,
                      void (*function)(void*), void* argument) {
    if (out == nullptr || function == nullptr) return -EINVAL;
    try {
        auto made = std::make_unique<tulle_timer>();
        auto const call = [known = &made->is_known, function, argument] {
            known->wait();
            function(argument);
        };
        made->timer = period_ns == 0 ? tulle::timer::after(as_duration(after_ns), call)
                                     : tulle::timer::every(as_duration(after_ns),
                                                           as_duration(period_ns), call);
        *out = made.get();
        made.release()->is_known.count_down();
        return 0;
    } catch (std::bad_alloc const&) {
        return -ENOMEM;
    } catch (std::system_error const& e) {
        return -e.code().value();
    }
}

int tulle_timer_cancel(tulle_timer_t* timer) {
    if (timer == nullptr) return -EINVAL;
    return timer->timer.cancel() ? 0 : -EALREADY;
}

int tulle_timer_wait(tulle_timer_t* timer) {
    if (timer == nullptr) return -EINVAL;
    timer->timer.wait();
    return 0;
}

int tulle_timer_destroy(tulle_timer_t* timer) {
    if (timer == nullptr) return -EINVAL;
    delete timer;
    return 0;
}
