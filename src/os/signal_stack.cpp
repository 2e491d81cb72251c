// SPDX-License-Identifier: Apache-2.0
#include "os/signal_stack.hpp"

#include <csignal>

#include "os/memory.hpp"

namespace tulle::os {

void signal_stack::install() noexcept {
    stack_t present{};
    if (m_memory != nullptr || ::sigaltstack(nullptr, &present) != 0 ||
        (present.ss_flags & SS_DISABLE) == 0) {
        return;
    }
    void* const memory = system_memory().reserve(k_bytes, page_size());
    if (memory == nullptr) {
        return;
    }
    stack_t wanted{};
    wanted.ss_sp = memory;
    wanted.ss_size = k_bytes;
    if (::sigaltstack(&wanted, nullptr) == 0) {
        m_memory = memory;
    } else {
        static_cast<void>(system_memory().release(memory, k_bytes));
    }
}

void signal_stack::forget() noexcept {
    if (m_memory != nullptr) {
        static_cast<void>(system_memory().release(m_memory, k_bytes));
    }
    m_memory = nullptr;
}

void signal_stack::remove() noexcept {
    if (m_memory == nullptr) {
        return;
    }
    stack_t present{};
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    bool const is_ours = ::sigaltstack(nullptr, &present) == 0 && present.ss_sp == m_memory;
    if (!is_ours || ::sigaltstack(&none, nullptr) == 0) {
        static_cast<void>(system_memory().release(m_memory, k_bytes));
    }
    m_memory = nullptr;
}

} // namespace tulle::os
