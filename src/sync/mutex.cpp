// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "sync/mutex_ops.hpp"
#include "sync/opaque.hpp"

#include <tulle/mutex.hpp>
#include <tulle/this_thread.hpp>

namespace tulle {

using sync::native_mutex_queue;

bool mutex::lock_cold(std::uint64_t deadline) noexcept {
    return sync::lock_contended(m_front, sync::open<native_mutex_queue>(m_queue), deadline,
                                wait::wait_kind::owned_mutex);
}

bool mutex::lock_until_cold(detail::limit until) noexcept {
    return sync::lock_contended(m_front, sync::open<native_mutex_queue>(m_queue), until,
                                wait::wait_kind::owned_mutex);
}

bool mutex::try_lock_cold() noexcept {
    return sync::try_lock(m_front, sync::open<native_mutex_queue>(m_queue));
}

void mutex::unlock_cold(detail::unlock_result how_far) noexcept {
    // The caller still holds it, and the one that it goes to may come late. relaxed: see set_owner.
    if (how_far == detail::unlock_result::held_contended)
        m_owner.store(0, std::memory_order_relaxed);
    sync::native_mutex_core(m_front, sync::open<native_mutex_queue>(m_queue)).unlock(how_far);
    schedule_point();
}

namespace {

// A thread's number, not its fiber: a thread that its joiner runs in place is another one.
unsigned long long self() noexcept { return this_thread::get_id(); }

} // namespace

// relaxed, all three: only the caller's own number is compared with, and it wrote that itself.
void mutex::check_not_owner_outlined() const noexcept {
    if (m_owner.load(std::memory_order_relaxed) == self())
        base::fatal_misuse(
            "mutex %p is locked by thread %llu, which holds it already; tulle::mutex is "
            "not recursive",
            static_cast<void const*>(this), self());
}

void mutex::set_owner_outlined() noexcept { m_owner.store(self(), std::memory_order_relaxed); }

void mutex::clear_owner_outlined() noexcept {
    unsigned long long const owner = m_owner.load(std::memory_order_relaxed);
    if (owner == 0)
        base::fatal_misuse("mutex %p is unlocked by thread %llu, but nobody holds it",
                           static_cast<void const*>(this), self());
    if (owner != self())
        base::fatal_misuse(
            "mutex %p is unlocked by thread %llu, but thread %llu holds it; unlock it where "
            "it was locked",
            static_cast<void const*>(this), self(), owner);
    m_owner.store(0, std::memory_order_relaxed);
}

} // namespace tulle
