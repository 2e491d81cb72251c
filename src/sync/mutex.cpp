// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "sync/mutex_ops.hpp"
#include "sync/opaque.hpp"

#include <tulle/mutex.hpp>

namespace tulle {

using queue = sync::native_mutex_queue;

bool mutex::lock_cold(std::uint64_t deadline) noexcept {
    return sync::lock_contended(m_front, sync::open<queue>(m_queue), deadline);
}

void mutex::unlock_cold(detail::unlock_result how_far) noexcept {
    sync::native_mutex_core(m_front, sync::open<queue>(m_queue)).unlock(how_far);
}

// relaxed, all three: only the caller's own fiber is compared with, and it wrote that itself.
void mutex::check_not_owner_outlined() const noexcept {
    if (m_owner.load(std::memory_order_relaxed) == sync::parking::self())
        base::fatal("mutex %p is locked by the thread that holds it already; tulle::mutex is not recursive",
                    static_cast<void const*>(this));
}

void mutex::set_owner_outlined() noexcept { m_owner.store(sync::parking::self(), std::memory_order_relaxed); }

void mutex::clear_owner_outlined() noexcept {
    void const* const owner = m_owner.load(std::memory_order_relaxed);
    void const* const self = sync::parking::self();
    if (owner != self)
        base::fatal("mutex %p is unlocked by thread %p, but %p holds it (null: nobody); unlock it where it was locked",
                    static_cast<void const*>(this), self, owner);
    m_owner.store(nullptr, std::memory_order_relaxed);
}

} // namespace tulle
