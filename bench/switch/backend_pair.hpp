// SPDX-License-Identifier: Apache-2.0
// Two contexts of one of Tulle's switch backends (arch/context.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include "arch/context.hpp"

namespace tulle::bench {

template <arch::context_backend Backend> class backend_pair {
public:
    backend_pair() : m_stack(k_stack_size / sizeof(std::max_align_t)) {
        Backend::make(m_other, m_stack.data(), m_stack.size() * sizeof(std::max_align_t), &answer,
                      this);
    }
    backend_pair(backend_pair const&) = delete;
    backend_pair& operator=(backend_pair const&) = delete;

    void there_and_back() { Backend::switch_to(m_home, m_other); }
    [[nodiscard]] long turns() const { return m_turns; }

private:
    static constexpr std::size_t k_stack_size = 64 * 1024;

    static void answer(void* argument) {
        auto& self = *static_cast<backend_pair*>(argument);
        while (true) {
            ++self.m_turns;
            Backend::switch_to(self.m_other, self.m_home);
        }
    }

    typename Backend::context m_home;
    typename Backend::context m_other;
    long m_turns = 0;
    std::vector<std::max_align_t> m_stack;
};

} // namespace tulle::bench
