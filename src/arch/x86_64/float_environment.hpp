// SPDX-License-Identifier: Apache-2.0
// MXCSR has all of SSE, and is the context's. The x87 unit has a control word, which is the
// context's, too, and flags in its status word, which can be set with all of its state only.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cstdint>

namespace tulle::arch {

class float_flags {
public:
    float_flags() noexcept : m_x87(x87()) {}
    void give_to_caller() const noexcept {
        if (TULLE_UNLIKELY(x87() != m_x87)) set_x87();
    }

private:
    static constexpr unsigned k_flags = 0x3f, k_summaries = 0x8080; // of unmasked ones

    // As fnstenv stores it.
    struct x87_state {
        std::uint16_t control, unused0, status, unused1, tags, unused2;
        std::uint32_t last_instruction[4];
    };

    [[nodiscard]] static std::uint16_t x87() noexcept {
        std::uint16_t status;
        __asm__ __volatile__("fnstsw %0" : "=a"(status));
        return status & k_flags;
    }
    TULLE_COLD void set_x87() const noexcept {
        x87_state all;
        __asm__ __volatile__("fnstenv %0" : "=m"(all));
        all.status = static_cast<std::uint16_t>((all.status & ~(k_flags | k_summaries)) | m_x87);
        __asm__ __volatile__("fldenv %0" : : "m"(all));
    }

    std::uint16_t m_x87;
};

class float_environment {
public:
    float_environment() noexcept : m_mxcsr(mxcsr()), m_x87_control(x87_control()) {}
    void give_to_caller() const noexcept {
        if (mxcsr() != m_mxcsr) __asm__ __volatile__("ldmxcsr %0" : : "m"(m_mxcsr));
        m_flags.give_to_caller(); // before some of them trap
        if (x87_control() != m_x87_control) __asm__ __volatile__("fldcw %0" : : "m"(m_x87_control));
    }

private:
    [[nodiscard]] static std::uint32_t mxcsr() noexcept {
        std::uint32_t now;
        __asm__ __volatile__("stmxcsr %0" : "=m"(now));
        return now;
    }
    [[nodiscard]] static std::uint16_t x87_control() noexcept {
        std::uint16_t now;
        __asm__ __volatile__("fnstcw %0" : "=m"(now));
        return now;
    }

    std::uint32_t m_mxcsr;
    std::uint16_t m_x87_control;
    float_flags m_flags;
};

} // namespace tulle::arch
