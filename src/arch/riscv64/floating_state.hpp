// SPDX-License-Identifier: Apache-2.0
// fcsr. To write it may drain the pipeline.
#pragma once

#include <cstdint>

namespace tulle::arch {

class floating_state {
public:
    void save() noexcept { __asm__ __volatile__("frcsr %0" : "=r"(m_all)); }
    void load() const noexcept {
        std::uint64_t now;
        __asm__ __volatile__("frcsr %0" : "=r"(now));
        if (now != m_all) __asm__ __volatile__("fscsr %0" : : "r"(m_all) : "memory");
    }

private:
    std::uint64_t m_all;
};

} // namespace tulle::arch
