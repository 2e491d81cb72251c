// SPDX-License-Identifier: Apache-2.0
// Signals as bits of a word, which threads can change for each other; the kernel has them so, too.
#pragma once

#include <csignal>
#include <cstdint>
#include <cstring>

namespace tulle::posix {

using signal_set = std::uint64_t;

inline constexpr int k_signals = 64;

[[nodiscard]] inline bool is_signal(int number) noexcept {
    return number >= 1 && number <= k_signals;
}
[[nodiscard]] constexpr signal_set set_of(int signal) noexcept {
    return signal_set{1} << static_cast<unsigned>(signal - 1);
}
[[nodiscard]] inline signal_set set_of(sigset_t const& s) noexcept {
    signal_set bits = 0;
    std::memcpy(&bits, &s, sizeof bits);
    return bits;
}
[[nodiscard]] inline sigset_t as_sigset(signal_set bits) noexcept {
    sigset_t s;
    sigemptyset(&s);
    std::memcpy(&s, &bits, sizeof bits);
    return s;
}
// What no thread blocks, whatever it says: two by POSIX, and two of the C library's own.
inline constexpr signal_set k_never_blocked =
    set_of(SIGKILL) | set_of(SIGSTOP) | set_of(32) | set_of(33);
// The lowest; the set has one.
[[nodiscard]] constexpr int first_of(signal_set bits) noexcept { return __builtin_ctzll(bits) + 1; }

} // namespace tulle::posix
