// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <tulle/recursive_mutex.hpp>

namespace tulle {

void recursive_mutex::unlocked_by_stranger() const noexcept {
    base::fatal("recursive mutex %p is unlocked by thread %llu, but thread %llu holds it (0: "
                "nobody); unlock it where it was locked",
                static_cast<void const*>(this),
                static_cast<unsigned long long>(this_thread::get_id()),
                // relaxed: for the message only
                static_cast<unsigned long long>(m_mutex.m_owner.load(std::memory_order_relaxed)));
}

} // namespace tulle
