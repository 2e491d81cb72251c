// SPDX-License-Identifier: Apache-2.0
// FPCR and FPSR. To write the former drains the pipeline.
#pragma once

#include <cstdint>

namespace tulle::arch {

class floating_state {
public:
    void save() noexcept {
        __asm__ __volatile__("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(m_control), "=r"(m_flags));
    }
    void load() const noexcept {
        std::uint64_t now;
        __asm__ __volatile__("mrs %0, fpcr\n\tmsr fpsr, %1" : "=&r"(now) : "r"(m_flags) : "memory");
        if (__builtin_expect(static_cast<long>(now != m_control), 0) != 0)
            __asm__ __volatile__("msr fpcr, %0" : : "r"(m_control) : "memory");
    }

private:
    std::uint64_t m_control, m_flags;
};

} // namespace tulle::arch
