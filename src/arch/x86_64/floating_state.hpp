// SPDX-License-Identifier: Apache-2.0
// MXCSR, with its flags, and the control word of the x87. Flags of the x87, in which long doubles
// are computed, stay the OS thread's: contexts do not have them either. Control words of the x87
// seldom differ: then pending exceptions go first, else unmasking one would raise it.
#pragma once

#include <cstdint>

namespace tulle::arch {

class floating_state {
public:
    void save() noexcept {
        __asm__ __volatile__("stmxcsr %0\n\tfnstcw %1" : "=m"(m_mxcsr), "=m"(m_x87_control));
    }
    void load() const noexcept {
        std::uint16_t now;
        __asm__ __volatile__("ldmxcsr %1\n\tfnstcw %0" : "=m"(now) : "m"(m_mxcsr) : "memory");
        if (__builtin_expect(static_cast<long>(now != m_x87_control), 0) != 0)
            __asm__ __volatile__("fnclex\n\tfldcw %0" : : "m"(m_x87_control) : "memory");
    }

private:
    std::uint32_t m_mxcsr;
    std::uint16_t m_x87_control;
};

} // namespace tulle::arch
