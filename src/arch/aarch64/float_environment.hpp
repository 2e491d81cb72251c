// SPDX-License-Identifier: Apache-2.0
// FPCR has the directions of rounding and the traps, FPSR the flags. To write either may drain the
// pipeline.
#pragma once

#include <cstdint>

namespace tulle::arch {

class float_flags {
public:
    float_flags() noexcept : m_fpsr(fpsr()) {}
    void give_to_caller() const noexcept {
        if (fpsr() != m_fpsr) __asm__ __volatile__("msr fpsr, %0" : : "r"(m_fpsr));
    }

private:
    [[nodiscard]] static std::uint64_t fpsr() noexcept {
        std::uint64_t now;
        __asm__ __volatile__("mrs %0, fpsr" : "=r"(now));
        return now;
    }

    std::uint64_t m_fpsr;
};

class float_environment {
public:
    float_environment() noexcept : m_fpcr(fpcr()) {}
    void give_to_caller() const noexcept {
        if (fpcr() != m_fpcr) __asm__ __volatile__("msr fpcr, %0" : : "r"(m_fpcr));
        m_flags.give_to_caller();
    }

private:
    [[nodiscard]] static std::uint64_t fpcr() noexcept {
        std::uint64_t now;
        __asm__ __volatile__("mrs %0, fpcr" : "=r"(now));
        return now;
    }

    std::uint64_t m_fpcr;
    float_flags m_flags;
};

} // namespace tulle::arch
