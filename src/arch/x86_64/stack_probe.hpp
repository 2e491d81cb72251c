// SPDX-License-Identifier: Apache-2.0
// Code made with -fstack-clash-protection touches each page of a large frame before it uses it.
// Both compilers keep the address to which the stack pointer is going in r11 and touch `(%rsp)` on
// the way: gcc by `orq $0`, clang by `movq $0`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <ucontext.h>

namespace tulle::arch {

// Where the stack pointer was going when a probe faulted; 0: it was no such probe.
[[nodiscard]] inline std::uintptr_t probe_target(ucontext_t const& faulted) noexcept {
    constexpr std::array<std::uint8_t, 5> k_or{0x48, 0x83, 0x0c, 0x24, 0x00};
    constexpr std::array<std::uint8_t, 8> k_move{0x48, 0xc7, 0x04, 0x24, 0x00, 0x00, 0x00, 0x00};
    constexpr std::uintptr_t k_probe_interval = 4096;
    auto const& registers = faulted.uc_mcontext.gregs;
    auto const* const code = reinterpret_cast<std::uint8_t const*>(registers[REG_RIP]);
    auto const here = static_cast<std::uintptr_t>(registers[REG_RSP]);
    auto const target = static_cast<std::uintptr_t>(registers[REG_R11]);
    bool const is_probe = std::equal(k_or.begin(), k_or.end(), code) ||
                          std::equal(k_move.begin(), k_move.end(), code);
    return is_probe && target < here && (here - target) % k_probe_interval == 0 ? target : 0;
}

} // namespace tulle::arch
