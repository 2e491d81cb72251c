// SPDX-License-Identifier: Apache-2.0
// Whether the caller is in a child of vfork, which has the memory of its parent.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <atomic>

namespace tulle::posix {

class vfork_children {
public:
    // relaxed: the parent has counted it before.
    [[nodiscard]] static TULLE_INLINE bool has_caller() noexcept {
        return TULLE_UNLIKELY(s_count.load(std::memory_order_relaxed) != 0) && is_one();
    }
    static void begin() noexcept;
    static void end(bool in_child) noexcept;

private:
    [[nodiscard]] static bool is_one() noexcept;

    static std::atomic<int> s_count; // of those that are not other programs yet
};

} // namespace tulle::posix
