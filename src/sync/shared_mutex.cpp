// SPDX-License-Identifier: Apache-2.0
#include "sync/shared_mutex_core.hpp"

#include "base/error.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"

#include <tulle/shared_mutex.hpp>

namespace tulle {

using parking_shared_mutex = sync::shared_mutex_core<sync::parking>;

void shared_mutex::lock() noexcept { sync::open<parking_shared_mutex>(m_core).lock(); }

bool shared_mutex::try_lock() noexcept {
    return sync::open<parking_shared_mutex>(m_core).try_lock();
}

bool shared_mutex::lock_before(detail::limit until) noexcept {
    return sync::open<parking_shared_mutex>(m_core).lock_until(until);
}

void shared_mutex::unlock() noexcept {
    parking_shared_mutex& c = sync::open<parking_shared_mutex>(m_core);
    if (!c.is_written())
        base::fatal_misuse("shared mutex %p is unlocked, but no thread has locked it for writing",
                           static_cast<void*>(this));
    c.unlock();
}

void shared_mutex::lock_shared() noexcept {
    sync::open<parking_shared_mutex>(m_core).lock_shared();
}

bool shared_mutex::try_lock_shared() noexcept {
    return sync::open<parking_shared_mutex>(m_core).try_lock_shared();
}

bool shared_mutex::lock_shared_before(detail::limit until) noexcept {
    return sync::open<parking_shared_mutex>(m_core).lock_shared_until(until);
}

void shared_mutex::unlock_shared() noexcept {
    parking_shared_mutex& c = sync::open<parking_shared_mutex>(m_core);
    if (c.readers() == 0)
        base::fatal_misuse("shared mutex %p is unlocked, but no thread has locked it for reading",
                           static_cast<void*>(this));
    c.unlock_shared();
}

} // namespace tulle
