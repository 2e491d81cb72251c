// SPDX-License-Identifier: Apache-2.0
// How the low end of a stack is guarded. Best first: guard regions that need no mapping of their
// own; pages protected by mprotect, which split the mapping in two and hence are rationed; a
// canary, zero bytes that must still be zero when the stack is released.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/memory.hpp"
#include "stack/size_class.hpp"

namespace tulle::stack {

// What the user asked for (option `guard`).
enum class guard_choice { automatic, install, mprotect, none };

// What a stack has.
enum class guard_kind { install, mprotect, canary };

// A phrase for `tulle info`.
[[nodiscard]] constexpr char const* text(guard_kind kind) noexcept {
    switch (kind) {
        case guard_kind::install: return "guard regions (madvise GUARD_INSTALL)";
        case guard_kind::mprotect: return "guard pages (mprotect)";
        case guard_kind::canary: break;
    }
    return "none; overflow is found late, by a canary";
}

// Of address space below a stack.
[[nodiscard]] inline std::size_t guard_bytes(size_class guarded) noexcept {
    return guarded.is_compact() ? 0 : os::page_size();
}

// Decides the kind and applies it. Any thread may call; the kind only ever gets worse.
class guard_policy {
public:
    guard_policy(guard_choice choice, os::memory_calls const& calls,
                 std::size_t protect_limit) noexcept;

    // relaxed: see m_kind
    [[nodiscard]] guard_kind kind() const noexcept {
        return m_kind.load(std::memory_order_relaxed);
    }

    // Guards the first page of each of the ranges, in order; how many got one, the rest needs the
    // canary.
    [[nodiscard]] std::size_t apply(os::strided_range const& pages) noexcept;

    [[nodiscard]] os::memory_calls const& memory() const noexcept { return m_calls; }

private:
    static constexpr std::size_t k_not_asked = SIZE_MAX; // how many mappings the kernel allows

    void ask_for_ration() noexcept;
    [[nodiscard]] bool take_ration() noexcept;
    [[nodiscard]] std::size_t apply_mprotect(os::strided_range const& pages) noexcept;

    os::memory_calls m_calls;
    std::atomic<guard_kind> m_kind; // relaxed: a stack's own kind is recorded with the stack
    std::atomic<std::size_t> m_protect_left;
};

} // namespace tulle::stack
