// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <tulle/recursive_mutex.hpp>

namespace tulle {

void recursive_mutex::unlocked_by_stranger() const noexcept {
    auto const self = static_cast<unsigned long long>(this_thread::get_id());
    // relaxed: for the message only
    unsigned long long const owner = m_mutex.m_owner.load(std::memory_order_relaxed);
    if (owner == 0)
        base::fatal_misuse("recursive mutex %p is unlocked by thread %llu, but nobody holds it",
                           static_cast<void const*>(this), self);
    base::fatal_misuse(
        "recursive mutex %p is unlocked by thread %llu, but thread %llu holds it; unlock it "
        "where it was locked",
        static_cast<void const*>(this), self, owner);
}

} // namespace tulle
