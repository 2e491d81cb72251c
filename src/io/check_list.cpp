// SPDX-License-Identifier: Apache-2.0
#include "io/check_list.hpp"

namespace tulle::io {

void check_list::enter(descriptor& d, std::uint32_t waits_before) noexcept {
    d.is_to_check = true;
    d.waits_before = waits_before;
    d.next_to_check = m_first.load(std::memory_order_relaxed); // relaxed: compared below
    // release pairs with round_if_due.
    while (!m_first.compare_exchange_weak(d.next_to_check, &d, std::memory_order_release,
                                          std::memory_order_relaxed)) {}
}

} // namespace tulle::io
