// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"
#include "sync/semaphore_core.hpp"

#include <tulle/semaphore.hpp>

#include <stdexcept>

namespace tulle::detail {

using parking_semaphore = sync::semaphore_core<sync::parking>;

semaphore::semaphore(std::ptrdiff_t units) {
    if (units < 0 || static_cast<std::uint64_t>(units) > parking_semaphore::k_most)
        throw std::invalid_argument("tulle::counting_semaphore: a count must be from 0 to 2^62");
    sync::open<parking_semaphore>(m_core).open(static_cast<std::uint64_t>(units));
}

void semaphore::acquire() noexcept { sync::open<parking_semaphore>(m_core).acquire(); }

bool semaphore::try_acquire() noexcept {
    return sync::open<parking_semaphore>(m_core).try_acquire();
}

bool semaphore::acquire_before(limit until) noexcept {
    return sync::open<parking_semaphore>(m_core).acquire_until(until);
}

void semaphore::release(std::ptrdiff_t units) noexcept {
    if (units < 0 ||
        !sync::open<parking_semaphore>(m_core).release(static_cast<std::uint64_t>(units)))
        base::fatal_misuse("semaphore %p: %td units are released, but a count is from 0 to 2^62",
                           static_cast<void*>(this), units);
}

std::ptrdiff_t semaphore::count() const noexcept {
    return static_cast<std::ptrdiff_t>(sync::open<parking_semaphore>(m_core).count());
}

} // namespace tulle::detail
