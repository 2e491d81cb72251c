// SPDX-License-Identifier: Apache-2.0
// What a message does is ordered through another process: a call happens before its answer.
// ThreadSanitizer sees one process only, so in its builds each send happens before all later
// deliveries to the same process. Otherwise nothing.
#pragma once

#include "base/sanitize.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::net {

class order_of_process {
public:
    void before_send() noexcept {
        // Pairs with before_delivery.
        if constexpr (base::k_thread_sanitizer) m_sends.fetch_add(1, std::memory_order_release);
    }
    void before_delivery() noexcept {
        // Pairs with before_send.
        if constexpr (base::k_thread_sanitizer)
            static_cast<void>(m_sends.load(std::memory_order_acquire));
    }

private:
    std::atomic<std::uint32_t> m_sends{0};
};

} // namespace tulle::net
