// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"
#include "sync/phased_barrier_core.hpp"

#include <tulle/phased_barrier.hpp>

#include <stdexcept>

namespace tulle::detail {

using parking_phased_barrier = sync::phased_barrier_core<sync::parking>;

phases::phases(std::ptrdiff_t participants) {
    if (participants < 0)
        throw std::invalid_argument(
            "tulle::phased_barrier: a number of participants must not be negative");
    sync::open<parking_phased_barrier>(m_core).open(static_cast<std::uint64_t>(participants));
}

bool phases::arrive(std::ptrdiff_t count, bool drops, std::uint64_t& phase) noexcept {
    parking_phased_barrier& c = sync::open<parking_phased_barrier>(m_core);
    auto const result = count < 0 ? sync::arrival_result::too_many
                                  : c.arrive(static_cast<std::uint64_t>(count), drops, phase);
    if (result == sync::arrival_result::too_many)
        base::fatal_misuse(
            "phased barrier %p: %td more arrive, but fewer are expected in this phase",
            static_cast<void*>(this), count);
    return result == sync::arrival_result::last;
}

void phases::end_phase() noexcept { sync::open<parking_phased_barrier>(m_core).end_phase(); }

bool phases::wait(std::uint64_t phase, limit until) noexcept {
    return sync::open<parking_phased_barrier>(m_core).wait_until(phase, until);
}

} // namespace tulle::detail
